import assert from "node:assert/strict";
import { test } from "node:test";

import { JunctionTree } from "../../src/suffice/report/web/junction_tree.js";
import { cellOf, configurations, kinds, logSumOf, randomField, randomNetwork, randomQuestion, range, seeded, sumsBy, treeOf } from "./oracle.mjs";

const NOTHING = { hard: {}, soft: {}, values: {} };

function close(actual, expected, what, tolerance = 1e-9) {
  if (actual === expected) return;
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${what}: ${actual}, not ${expected}`);
}

/** Call a function with many random models and questions. */
function everyCase(check) {
  for (const kind of kinds) {
    for (const make of [randomNetwork, randomField]) {
      for (const seed of range(60)) {
        const random = seeded(seed + 1000 * kinds.indexOf(kind));
        const spec = make(random, kind);
        check(spec, randomQuestion(random, spec.sizes), `${kind} ${make.name} ${seed}`);
      }
    }
  }
}

test("log Z, marginals and family marginals are those of a sum over all configurations", () => {
  everyCase((spec, question, what) => {
    const tree = new JunctionTree(spec);
    const found = tree.calibrate(question);
    const all = configurations(spec, question);
    const logZ = logSumOf(all.map(({ log }) => log));
    close(found.logZ, logZ, what);
    close(tree.logSum(question), logZ, what);
    const marginals = found.marginals();
    assert.equal(marginals === null, logZ === -Infinity, what);
    if (marginals === null) return;
    spec.sizes.forEach((size, node) => {
      const expected = sumsBy(all, size, (states) => states[node]);
      expected.forEach((log, state) => close(marginals[node][state], Math.exp(log - logZ), what));
    });
    spec.factors.forEach(({ scope, values }, factor) => {
      const expected = sumsBy(all, values.length, (states) => cellOf(spec, scope, states));
      const family = found.family(factor);
      expected.forEach((log, cell) => close(family[cell], Math.exp(log - logZ), what));
    });
  });
});

test("derivatives in the entries of tables leave a table out, where entries are zero, too", () => {
  everyCase((spec, question, what) => {
    const tree = new JunctionTree(spec);
    const found = tree.calibrate(question);
    spec.factors.forEach(({ scope, values }, factor) => {
      const expected = sumsBy(configurations(spec, question, factor), values.length, (states) => cellOf(spec, scope, states));
      found.derivatives(factor, tree.logZ === -Infinity ? 0 : tree.logZ).forEach((value, cell) => {
        const wanted = Math.exp(expected[cell] - (tree.logZ === -Infinity ? 0 : tree.logZ));
        if (Number.isFinite(wanted)) close(value, wanted, what);
      });
    });
  });
});

test("the most probable configuration is one of the greatest, and ties name the states of all of them", () => {
  let tied = 0;
  everyCase((spec, question, what) => {
    const all = configurations(spec, question);
    const found = new JunctionTree(spec).maximise(question);
    const best = Math.max(...all.map(({ log }) => log));
    if (best === -Infinity) return assert.equal(found, null, what);
    close(found.logGiven, best - logSumOf(all.map(({ log }) => log)), what);
    const greatest = all.filter(({ log }) => log >= best - 1e-9);
    assert.ok(greatest.some(({ states }) => states.every((state, node) => state === found.states[node])), what);
    spec.sizes.forEach((_, node) => {
      const states = [...new Set(greatest.map((one) => one.states[node]))].sort();
      assert.deepEqual(found.ties[node] ?? [found.states[node]], states, what);
      if (states.length > 1) tied++;
    });
  });
  assert.ok(tied > 20);
});

test("findings that clash are impossible together, and possible without any one of them", () => {
  let clashes = 0;
  everyCase((spec, question, what) => {
    const tree = new JunctionTree(spec);
    if (tree.logSum(question) > -Infinity || tree.logZ === -Infinity) return;
    clashes++;
    const only = (nodes) => ({
      hard: Object.fromEntries(nodes.filter((node) => node in question.hard).map((node) => [node, question.hard[node]])),
      soft: Object.fromEntries(nodes.filter((node) => node in question.soft).map((node) => [node, question.soft[node]])),
      values: {},
    });
    const nodes = tree.clash(question);
    const possible = (some) => configurations(spec, only(some)).some(({ log }) => log > -Infinity);
    assert.ok(!possible(nodes), what);
    for (const node of nodes) assert.ok(possible(nodes.filter((other) => other !== node)), what);
  });
  assert.ok(clashes > 20);
});

function chainSpec(n, first, next) {
  const factors = [{ scope: [0], values: first }, ...range(n - 1).map((node) => ({ scope: [node, node + 1], values: next }))];
  const sizes = range(n).map(() => first.length);
  return { sizes, factors, ...treeOf(sizes, factors.map(({ scope }) => scope)), directed: true };
}

test("nothing underflows along a chain of a thousand nodes", () => {
  const spec = chainSpec(1000, [1 - 1e-300, 1e-300], [1, 1e-300, 1e-300, 1]);
  const tree = new JunctionTree(spec);
  const hard = Object.fromEntries(range(1000).map((node) => [node, node % 2]));
  close(tree.logSum({ ...NOTHING, hard }), 999 * Math.log(1e-300), "log p");
  const ends = tree.calibrate({ ...NOTHING, hard: { 0: 1, 999: 1 } });
  close(ends.logZ, Math.log(1e-300), "log p");
  for (const marginal of ends.marginals()) close(marginal[1], 1, "marginal");
  const flat = new JunctionTree(chainSpec(1000, [0.5, 0.5], [0.5, 0.5, 0.5, 0.5])).maximise(NOTHING);
  close(flat.logGiven, 1000 * Math.log(0.5), "log p");
  assert.equal(Object.keys(flat.ties).length, 1000);
  assert.ok(flat.states.every((state) => state === 0));
});
