// Engines that answer inside the page, for models that are small enough.

import { JunctionTree } from "./junction_tree.js";
import { ConditionedNormal } from "./normal.js";
import { conflict, mutualInformation } from "./insight.js";

/** @typedef {import("./types.js").Engine} Engine */
/** @typedef {import("./types.js").Insights} Insights */
/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Slope} Slope */
/** @typedef {import("./types.js").Target} Target */
/** @typedef {import("./junction_tree.js").Calibration} Calibration */

/** How many slopes are listed. */
const STEEPEST = 10;
/** @type {Question} */
const NO_EVIDENCE = { hard: {}, soft: {}, values: {} };
/** @type {Insights} */
const NO_INSIGHTS = { explanation: null, conflict: null, gains: null, slopes: null };

/**
 * Answer for a discrete model by its junction tree.
 *
 * @param {import("./types.js").TreeSpec} spec
 * @returns {Engine}
 */
export function treeEngine(spec) {
  const tree = new JunctionTree(spec);
  const prior = tree.calibrate(NO_EVIDENCE).marginals() ?? spec.sizes.map(() => null);
  return {
    async answer(question) {
      const found = tree.calibrate(question);
      const marginals = found.marginals();
      if (marginals) return { logEvidence: found.logZ - tree.logZ, marginals };
      return { logEvidence: -Infinity, marginals: spec.sizes.map(() => null), clash: tree.clash(question) };
    },
    async insights(question, target) {
      const found = tree.calibrate(question);
      const marginals = found.marginals();
      if (!marginals) return { ...NO_INSIGHTS, refusal: "The evidence is impossible." };
      const open = target !== null && !(target.node in question.hard) ? target : null;
      return {
        explanation: tree.maximise(question, found.logZ),
        conflict: conflict(prior, question, found.logZ - tree.logZ),
        gains: open && treeGains(tree, question, open.node, marginals),
        slopes: open && spec.directed ? steepestSlopes(tree, question, open, found) : null,
      };
    },
    async intervals() {
      return null;
    },
  };
}

/**
 * The expected information gain I(T; X | e) of every node X that is not known: one calibration for each state of T.
 *
 * @param {JunctionTree} tree
 * @param {Question} question
 * @param {number} node  T.
 * @param {number[][]} marginals  Given the evidence.
 * @returns {[number, number][]}
 */
function treeGains(tree, question, node, marginals) {
  const given = marginals[node].map((p, state) => (p > 0 ? tree.calibrate(alsoObserved(question, node, state)).marginals() : null));
  return byGain(
    tree.spec.sizes.map((_, other) => other).filter((other) => other !== node && !(other in question.hard)),
    (other) => mutualInformation(marginals[node], given.map((found) => found && found[other]), marginals[other]),
  );
}

/**
 * @param {Question} question
 * @param {number} node
 * @param {number} state
 * @returns {Question}  With one more finding. What was said of the node before becomes a factor that stays the same.
 */
function alsoObserved(question, node, state) {
  const likelihood = question.soft[node];
  if (!likelihood) return { ...question, hard: { ...question.hard, [node]: state } };
  return { ...question, soft: { ...question.soft, [node]: likelihood.map((l, code) => (code === state ? l : 0)) } };
}

/**
 * @param {number[]} nodes
 * @param {(node: number) => number} gain
 * @returns {[number, number][]}
 */
function byGain(nodes, gain) {
  return nodes.map((node) => /** @type {[number, number]} */ ([node, gain(node)])).sort((a, b) => b[1] - a[1]);
}

/**
 * The entries of tables in which p(T = t | e) is steepest, the others of their row shrinking in proportion.
 *
 * With Q = p(t, e) and E = p(e), the derivative of Q/E is (∂Q − (Q/E) ∂E) / E, as in `suffice.inference.derivatives`.
 *
 * @param {JunctionTree} tree
 * @param {Question} question
 * @param {Target} target
 * @param {Calibration} below  Calibrated with the evidence.
 * @returns {Slope[]}
 */
function steepestSlopes(tree, question, { node, state }, below) {
  const { sizes, factors } = tree.spec;
  const above = tree.calibrate(alsoObserved(question, node, state));
  const value = Math.exp(above.logZ - below.logZ);
  const findings = [node, ...Object.keys(question.hard), ...Object.keys(question.soft)].map(Number);
  /** @type {{place: number[], size: number, slope: number}[]} */
  const entries = [];
  for (const child of withAncestors(factors, findings)) {
    const { values } = factors[child];
    const up = above.derivatives(child, below.logZ);
    const down = below.derivatives(child, below.logZ);
    const partial = up.map((rise, entry) => rise - value * down[entry]);
    for (let row = 0; row < values.length; row += sizes[child]) {
      const end = row + sizes[child];
      inProportion(partial.subarray(row, end), values.slice(row, end)).forEach((slope, code) =>
        entries.push({ place: [child, row + code], size: Math.round(Math.abs(slope) * 1e12), slope }),
      );
    }
  }
  entries.sort((a, b) => b.size - a.size);
  return entries.slice(0, STEEPEST).map(({ place: [child, entry], slope }) => {
    const codes = codesAt(entry, factors[child].scope, sizes);
    return { node: child, parents: codes.slice(0, -1), state: codes[codes.length - 1], entry: factors[child].values[entry], slope };
  });
}

/**
 * @param {import("./types.js").Factor[]} factors  Each over the parents of a node and the node.
 * @param {number[]} nodes
 * @returns {number[]}  The nodes with all their ancestors, in order. Tables of others sum to one and do not matter.
 */
function withAncestors(factors, nodes) {
  const found = new Set(nodes);
  for (const node of found) for (const parent of factors[node].scope) found.add(parent); // grows while it is walked
  return [...found].sort((a, b) => a - b);
}

/**
 * Return derivatives along which a row keeps its sum: one entry rises, the others shrink in proportion.
 *
 * @param {Float64Array} partial
 * @param {number[]} row
 * @returns {number[]}
 */
export function inProportion(partial, row) {
  if (row.length === 1) return [0];
  const weighted = row.reduce((sum, entry, code) => sum + entry * partial[code], 0);
  const total = partial.reduce((sum, rise) => sum + rise, 0);
  return row.map((entry, code) => {
    const rise = partial[code];
    // Where the entry is one, the others share what it loses evenly.
    return rise - (1 - entry > 1e-15 ? (weighted - entry * rise) / (1 - entry) : (total - rise) / (row.length - 1));
  });
}

/**
 * @param {number} entry
 * @param {number[]} scope
 * @param {number[]} sizes
 * @returns {number[]}  The state of every variable of a scope at an entry of its table.
 */
function codesAt(entry, scope, sizes) {
  const codes = scope.map(() => 0);
  for (let axis = scope.length - 1; axis >= 0; axis--) {
    codes[axis] = entry % sizes[scope[axis]];
    entry = Math.floor(entry / sizes[scope[axis]]);
  }
  return codes;
}

/**
 * Answer for a joint normal distribution.
 *
 * @param {import("./types.js").NormalSpec} spec
 * @returns {Engine}
 */
export function normalEngine(spec) {
  /** @param {ConditionedNormal} found */
  const densities = (found) => found.mean.map((mean, node) => ({ w: [1], m: [mean], s: [found.sd[node]] }));
  const prior = densities(new ConditionedNormal(spec, {}));
  const refusal = "The covariance of what was observed is not positive definite, as far as round-off lets one tell.";
  return {
    async answer({ values }) {
      const found = new ConditionedNormal(spec, values);
      if (!found.proper) return { logEvidence: NaN, marginals: spec.mean.map(() => null), refusal };
      return { logEvidence: found.logDensity, marginals: densities(found) };
    },
    async insights(question, target) {
      const found = new ConditionedNormal(spec, question.values);
      if (!found.proper) return { ...NO_INSIGHTS, refusal };
      const open = target !== null && !(target.node in question.values) ? target.node : null;
      return {
        explanation: { states: found.mean, ties: {}, logGiven: found.logPeak() },
        conflict: conflict(prior, question, found.logDensity),
        gains:
          open === null
            ? null
            : byGain(
                found.free.filter((node) => node !== open),
                (node) => found.information(open, node),
              ),
        slopes: null,
      };
    },
    async intervals() {
      return null;
    },
  };
}
