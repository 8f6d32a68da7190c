// What distributions say about evidence and about each other.

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Density} Density */
/** @typedef {import("./types.js").Marginal} Marginal */

/** How many pieces there are to a standard deviation when a density is integrated. */
const SIMPSON_PIECES = 4;
const SIMPSON_REACH = 8; // standard deviations

/**
 * KL(after ‖ before) of one node, in nats: how far its distribution moved. Null where a value is known, or nothing is.
 *
 * @param {Marginal} before
 * @param {Marginal} after
 * @returns {number | null}
 */
export function divergence(before, after) {
  if (before === null || after === null) return null;
  if (Array.isArray(before) || Array.isArray(after)) {
    return Array.isArray(before) && Array.isArray(after) ? discreteDivergence(before, after) : null;
  }
  if ([...before.s, ...after.s].some((sd) => !(sd > 0))) return null;
  if (before.w.length > 1 || after.w.length > 1) return mixtureDivergence(before, after);
  const ratio = after.s[0] / before.s[0];
  const moved = (after.m[0] - before.m[0]) / before.s[0];
  return Math.max(0, 0.5 * (ratio ** 2 + moved ** 2 - 1) - Math.log(ratio));
}

/**
 * @param {number[]} before
 * @param {number[]} after
 */
function discreteDivergence(before, after) {
  const sum = after.reduce((total, p, state) => total + (p > 0 ? p * Math.log(p / before[state]) : 0), 0);
  return Math.max(0, sum);
}

/**
 * ∫ after log(after / before) by Simpson's rule between points a standard deviation apart, of every component.
 *
 * @param {Density} before
 * @param {Density} after
 */
function mixtureDivergence(before, after) {
  const points = [before, after].flatMap(({ m, s }) =>
    m.flatMap((mean, i) => Array.from({ length: 2 * SIMPSON_REACH + 1 }, (_, k) => mean + (k - SIMPSON_REACH) * s[i])),
  );
  points.sort((a, b) => a - b);
  const value = (/** @type {number} */ x) => {
    const log = logDensityAt(after, x);
    return log === -Infinity ? 0 : Math.exp(log) * (log - logDensityAt(before, x));
  };
  let total = 0;
  for (let i = 1; i < points.length; i++) {
    const step = (points[i] - points[i - 1]) / SIMPSON_PIECES;
    if (step === 0) continue;
    for (let k = 0; k <= SIMPSON_PIECES; k++) {
      const weight = k === 0 || k === SIMPSON_PIECES ? 1 : k % 2 ? 4 : 2;
      total += (weight * step * value(points[i - 1] + k * step)) / 3;
    }
  }
  return Math.max(0, total);
}

/**
 * @param {Density} density
 * @param {number} x
 * @returns {number}
 */
export function logDensityAt({ w, m, s }, x) {
  const logs = w.map((weight, i) => {
    if (!(weight > 0)) return -Infinity;
    if (!(s[i] > 0)) return x === m[i] ? Infinity : -Infinity;
    return Math.log(weight) - Math.log(s[i]) - 0.5 * (Math.log(2 * Math.PI) + ((x - m[i]) / s[i]) ** 2);
  });
  const top = Math.max(...logs);
  return Number.isFinite(top) ? top + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - top), 0)) : top;
}

/**
 * @param {Density} density
 * @param {number} x
 * @returns {number}  Infinity at a value that is known.
 */
export function densityAt(density, x) {
  return Math.exp(logDensityAt(density, x));
}

/**
 * Jensen's measure of conflict, Σ log p(finding) − log p(all findings): above zero, findings contradict each other.
 * Null with fewer than two findings.
 *
 * @param {Marginal[]} prior  The marginals without evidence.
 * @param {Question} question
 * @param {number} logEvidence
 * @returns {number | null}
 */
export function conflict(prior, question, logEvidence) {
  /** @type {number[]} */
  const logs = [];
  for (const [node, code] of Object.entries(question.hard)) {
    const found = prior[+node];
    if (!Array.isArray(found)) return null;
    logs.push(Math.log(found[code]));
  }
  for (const [node, likelihood] of Object.entries(question.soft)) {
    const found = prior[+node];
    if (!Array.isArray(found)) return null;
    logs.push(Math.log(found.reduce((sum, p, state) => sum + p * likelihood[state], 0)));
  }
  for (const [node, value] of Object.entries(question.values)) {
    const found = prior[+node];
    if (found === null || Array.isArray(found)) return null;
    logs.push(logDensityAt(found, value));
  }
  const found = logs.reduce((sum, log) => sum + log, 0) - logEvidence;
  return logs.length > 1 && Number.isFinite(found) ? found : null;
}

/**
 * Σ_t p(t) KL(p(x | t) ‖ p(x)), in nats.
 *
 * @param {number[]} weights  p(t).
 * @param {(number[] | null)[]} conditionals  p(x | t), null where t is impossible.
 * @param {number[]} whole  p(x).
 * @returns {number}
 */
export function mutualInformation(weights, conditionals, whole) {
  let sum = 0;
  conditionals.forEach((given, t) =>
    given?.forEach((p, x) => {
      if (p > 0 && whole[x] > 0) sum += weights[t] * p * Math.log(p / whole[x]); // p(x) ≥ p(t) p(x | t) may underflow
    }),
  );
  return Math.max(0, sum);
}

/**
 * Say a probability as a number of cases: "1 case in 6.3", "1 case in 2.4 million", "1 case in 10^41".
 *
 * @param {number} logEvidence  log p.
 * @returns {string}
 */
export function caseInWords(logEvidence) {
  if (logEvidence === -Infinity) return "no case";
  const cases = Number(Math.exp(-logEvidence).toPrecision(2));
  if (cases <= 1) return "every case";
  if (cases >= 1e15) return `1 case in 10^${Math.round(-logEvidence / Math.LN10)}`;
  for (const [size, word] of /** @type {[number, string][]} */ ([[1e12, "trillion"], [1e9, "billion"], [1e6, "million"]])) {
    if (cases >= size) return `1 case in ${Number((cases / size).toPrecision(2))} ${word}`;
  }
  return `1 case in ${cases.toLocaleString("en-US")}`;
}
