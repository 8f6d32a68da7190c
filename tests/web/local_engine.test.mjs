import assert from "node:assert/strict";
import { test } from "node:test";

import { inProportion, normalEngine, treeEngine } from "../../src/suffice/report/web/local_engine.js";
import { configurations, kinds, logSumOf, randomField, randomNetwork, randomQuestion, range, seeded } from "./oracle.mjs";

const NOTHING = { hard: {}, soft: {}, values: {} };
const near = (actual, expected, what, tolerance = 1e-9) =>
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${what}: ${actual}, not ${expected}`);
const logSum = (spec, question) => logSumOf(configurations(spec, question).map(({ log }) => log));

/** Every number in an answer. */
function* numbersIn(thing) {
  if (typeof thing === "number") yield thing;
  else if (thing && typeof thing === "object") for (const part of Object.values(thing)) yield* numbersIn(part);
}

/** Call a function with random models that leave something possible, an open target, and a question. */
async function everyCase(check) {
  for (const kind of kinds) {
    for (const make of [randomNetwork, randomField]) {
      for (const seed of range(25)) {
        const random = seeded(seed + 777 * kinds.indexOf(kind));
        const spec = make(random, kind);
        if (logSum(spec, NOTHING) === -Infinity) continue;
        const question = randomQuestion(random, spec.sizes);
        const node = Math.floor(random() * spec.sizes.length);
        delete question.hard[node];
        await check(spec, question, { node, state: Math.floor(random() * spec.sizes[node]) }, `${kind} ${make.name} ${seed}`);
      }
    }
  }
}

test("log p(evidence) is that of the product over its sum, and impossible evidence is refused", async () => {
  await everyCase(async (spec, question, target, what) => {
    const engine = treeEngine(spec);
    const answer = await engine.answer(question);
    const expected = logSum(spec, question) - logSum(spec, NOTHING);
    if (expected === -Infinity) {
      assert.equal(answer.logEvidence, -Infinity);
      assert.ok(answer.clash.length > 0 && answer.marginals.every((marginal) => marginal === null), what);
      assert.ok((await engine.insights(question, target)).refusal);
      return;
    }
    near(answer.logEvidence, expected, what);
    assert.equal(answer.clash, undefined);
  });
});

test("no number is NaN", async () => {
  await everyCase(async (spec, question, target, what) => {
    const engine = treeEngine(spec);
    const found = [await engine.answer(question), await engine.insights(question, target), await engine.insights(question, null)];
    for (const number of numbersIn(found)) assert.ok(!Number.isNaN(number), what);
  });
});

test("expected gains are mutual informations given the evidence, largest first", async () => {
  await everyCase(async (spec, question, target, what) => {
    const { gains } = await treeEngine(spec).insights(question, target);
    const logE = logSum(spec, question);
    if (logE === -Infinity) return assert.equal(gains, null);
    const all = configurations(spec, question);
    const p = (keep) => all.reduce((sum, { states, log }) => (keep(states) ? sum + Math.exp(log - logE) : sum), 0);
    assert.deepEqual(
      gains.map(([node]) => node).sort(),
      range(spec.sizes.length).filter((node) => node !== target.node && !(node in question.hard)).sort(),
    );
    gains.forEach(([node, gain], place) => {
      let information = 0;
      for (const t of range(spec.sizes[target.node])) {
        for (const x of range(spec.sizes[node])) {
          const joint = p((states) => states[target.node] === t && states[node] === x);
          const apart = p((states) => states[target.node] === t) * p((states) => states[node] === x);
          if (joint > 0) information += joint * Math.log(joint / apart);
        }
      }
      near(gain, information, what);
      assert.ok(place === 0 || gain <= gains[place - 1][1]);
    });
  });
});

test("slopes are those of differences, the rest of the row shrinking in proportion", async () => {
  let compared = 0;
  await everyCase(async (spec, question, target, what) => {
    const { slopes } = await treeEngine(spec).insights(question, target);
    const rows = spec.factors.every(({ scope, values }) => {
      const size = spec.sizes[scope[scope.length - 1]];
      return range(values.length / size).every((row) => Math.abs(values.slice(row * size, (row + 1) * size).reduce((a, b) => a + b, 0) - 1) < 1e-9);
    });
    if (!spec.directed || logSum(spec, question) === -Infinity) return assert.equal(slopes, null);
    if (!rows || what.startsWith("tiny")) return;
    assert.ok(slopes.length <= 10);
    for (const { node, parents, state, entry, slope } of slopes) {
      const size = spec.sizes[node];
      const { scope, values } = spec.factors[node];
      const row = parents.reduce((cell, code, axis) => cell * spec.sizes[scope[axis]] + code, 0) * size;
      assert.equal(values[row + state], entry, what);
      if (size === 1) continue;
      // One-sided where the entry is at an end of its range.
      const asked = (change) => {
        const changed = [...values];
        for (const code of range(size)) {
          if (code === state) changed[row + code] += change;
          else changed[row + code] -= 1 - entry > 1e-15 ? (change * values[row + code]) / (1 - entry) : change / (size - 1);
        }
        const other = { ...spec, factors: spec.factors.map((factor, v) => (v === node ? { scope, values: changed } : factor)) };
        const soft = question.soft[target.node] ?? range(spec.sizes[target.node]).map(() => 1);
        const event = { ...question, soft: { ...question.soft, [target.node]: soft.map((l, code) => (code === target.state ? l : 0)) } };
        return Math.exp(logSum(other, event) - logSum(other, question));
      };
      const step = 1e-6;
      const [low, high] = [entry > step ? -step : 0, entry < 1 - step ? step : 0];
      const difference = (asked(high) - asked(low)) / (high - low);
      near(slope, difference, what, low && high ? 1e-5 : 2e-3);
      compared++;
    }
  });
  assert.ok(compared > 300);
});

test("an entry of one shares what it loses evenly", () => {
  assert.deepEqual(inProportion(Float64Array.of(2, 0, 1), [1, 0, 0]), [1.5, -2, -1]);
  assert.deepEqual(inProportion(Float64Array.of(5), [1]), [0]);
});

test("targets that are known have neither gains nor slopes", async () => {
  const spec = randomNetwork(seeded(5));
  const found = await treeEngine(spec).insights({ ...NOTHING, hard: { 0: 0 } }, { node: 0, state: 0 });
  assert.equal(found.gains, null);
  assert.equal(found.slopes, null);
  assert.equal(await treeEngine(spec).intervals(NOTHING), null);
});

test("a normal distribution is conditioned", async () => {
  const engine = normalEngine({ mean: [1, 2, 3], covariance: [[4, 2, 0], [2, 5, 1], [0, 1, 2]] });
  const prior = await engine.answer(NOTHING);
  assert.equal(prior.logEvidence, 0);
  assert.deepEqual(prior.marginals[0], { w: [1], m: [1], s: [2] });
  const question = { ...NOTHING, values: { 0: 3 } };
  const { logEvidence, marginals } = await engine.answer(question);
  near(logEvidence, -0.5 * Math.log(2 * Math.PI * 4) - 0.5, "log density");
  assert.deepEqual(marginals[0], { w: [1], m: [3], s: [0] });
  near(marginals[1].m[0], 3, "mean");
  near(marginals[1].s[0], 2, "sd");
  const { explanation, gains, conflict } = await engine.insights(question, { node: 1, state: 0 });
  assert.deepEqual(explanation.states, [3, 3, 3]);
  near(explanation.logGiven, -Math.log(2 * Math.PI) - 0.5 * Math.log(4 * 2 - 1), "peak");
  assert.deepEqual(gains.map(([node]) => node), [2]);
  near(gains[0][1], -0.5 * Math.log(1 - 1 / 8), "gain");
  assert.equal(conflict, null);
});

test("a covariance that is not positive definite is refused", async () => {
  const engine = normalEngine({ mean: [0, 0, 0], covariance: [[1, 1, 0], [1, 1, 0], [0, 0, 1]] });
  assert.ok((await engine.answer({ ...NOTHING, values: { 0: 0, 1: 1 } })).refusal);
});
