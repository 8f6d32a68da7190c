// Random small models, and the answers of a sum over all configurations.

/** Return a generator of numbers in [0, 1), the same ones for the same seed (mulberry32). */
export function seeded(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const range = (n) => Array.from({ length: n }, (_, i) => i);

const KINDS = {
  positive: (random) => random() + 0.01,
  zeros: (random) => (random() < 0.35 ? 0 : random() + 0.01),
  deterministic: (random) => (random() < 0.5 ? 0 : 1),
  tied: (random) => [1, 2, 2, 4][Math.floor(4 * random())],
  tiny: (random) => (random() < 0.3 ? 1e-300 : random() < 0.2 ? 0 : random() + 0.01),
};
export const kinds = Object.keys(KINDS);

/** Return a network of up to seven nodes; `parts` of its nodes have nothing to do with each other. */
export function randomNetwork(random, kind = "positive", n = 3 + Math.floor(5 * random())) {
  const sizes = range(n).map(() => 1 + Math.floor(3.5 * random()));
  const component = range(n).map(() => Math.floor(1.6 * random()));
  const factors = range(n).map((node) => {
    const parents = range(node).filter((other) => component[other] === component[node] && random() < 0.45).slice(-3);
    if (random() < 0.5) parents.reverse();
    const rows = parents.reduce((cells, parent) => cells * sizes[parent], 1);
    return { scope: [...parents, node], values: range(rows).flatMap(() => randomRow(random, kind, sizes[node])) };
  });
  return { sizes, factors, ...treeOf(sizes, factors.map(({ scope }) => scope), random() < 0.5), directed: true };
}

function randomRow(random, kind, size) {
  const row = range(size).map(() => KINDS[kind](random));
  if (!row.some((value) => value > 1e-3)) row[Math.floor(size * random())] = 1;
  const total = row.reduce((sum, value) => sum + value, 0);
  return kind === "tied" ? row.map((value) => value / 8) : row.map((value) => value / total);
}

/** Return a model without directions, whose tables do not sum to one. */
export function randomField(random, kind = "positive", n = 3 + Math.floor(4 * random())) {
  const sizes = range(n).map(() => 1 + Math.floor(3.5 * random()));
  const factors = range(n + 2).map(() => {
    const scope = range(n).filter(() => random() < 0.35).slice(0, 3);
    const cells = scope.reduce((product, variable) => product * sizes[variable], 1);
    return { scope, values: range(cells).map(() => 7 * KINDS[kind](random)) };
  });
  return { sizes, factors, ...treeOf(sizes, factors.map(({ scope }) => scope), random() < 0.5), directed: false };
}

/** Eliminate nodes in order, and join each clique to that of the next of its other nodes. */
export function treeOf(sizes, scopes, forest = true) {
  const near = sizes.map((_, node) => new Set(scopes.filter((scope) => scope.includes(node)).flat()));
  const cliques = [];
  const next = [];
  sizes.forEach((_, node) => {
    const others = [...near[node]].filter((other) => other > node);
    for (const other of others) for (const another of others) near[other].add(another);
    cliques.push([node, ...others].sort((a, b) => (a * 7919) % 13 - ((b * 7919) % 13)));
    next.push(others.length ? Math.min(...others) : -1);
  });
  const root = sizes.length - 1;
  return { cliques, above: next.map((above, clique) => (above >= 0 || clique === root ? above : forest ? -1 : root)) };
}

/** Return evidence on some nodes: states, likelihoods, and states that are ruled out. */
export function randomQuestion(random, sizes) {
  const question = { hard: {}, soft: {}, values: {} };
  sizes.forEach((size, node) => {
    const how = random();
    if (how < 0.25) question.hard[node] = Math.floor(size * random());
    else if (how < 0.35) question.soft[node] = range(size).map(() => random());
    else if (how < 0.42 && size > 1) {
      const out = Math.floor(size * random());
      question.soft[node] = range(size).map((state) => (state === out ? 0 : 1));
    }
  });
  return question;
}

/** Return every configuration with log Π φ, evidence included; −Infinity where it is impossible. */
export function configurations(spec, question, without = -1) {
  const found = [];
  const states = spec.sizes.map(() => 0);
  for (;;) {
    let log = 0;
    spec.factors.forEach(({ scope, values }, factor) => {
      if (factor !== without) log += Math.log(values[cellOf(spec, scope, states)]);
    });
    for (const [node, code] of Object.entries(question.hard)) if (states[node] !== code) log = -Infinity;
    for (const [node, likelihood] of Object.entries(question.soft)) log += Math.log(likelihood[states[node]]);
    found.push({ states: [...states], log });
    let node = spec.sizes.length - 1;
    while (node >= 0 && ++states[node] === spec.sizes[node]) states[node--] = 0;
    if (node < 0) return found;
  }
}

export const cellOf = ({ sizes }, scope, states) => scope.reduce((cell, variable) => cell * sizes[variable] + states[variable], 0);

export function logSumOf(logs) {
  const top = Math.max(...logs);
  return top === -Infinity ? top : top + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - top), 0));
}

/** Return sums over configurations by some key of their states. */
export function sumsBy(found, n, key) {
  const logs = range(n).map(() => []);
  for (const { states, log } of found) logs[key(states)].push(log);
  return logs.map(logSumOf);
}
