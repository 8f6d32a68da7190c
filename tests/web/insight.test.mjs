import assert from "node:assert/strict";
import { test } from "node:test";

import { caseInWords, conflict, densityAt, divergence, logDensityAt, mutualInformation } from "../../src/suffice/report/web/insight.js";
import { range } from "./oracle.mjs";

const near = (actual, expected, tolerance = 1e-9) => assert.ok(Math.abs(actual - expected) <= tolerance, `${actual}, not ${expected}`);
const normal = (m, s) => ({ w: [1], m: [m], s: [s] });

test("a divergence of probabilities takes zeros", () => {
  near(divergence([0.5, 0.5], [1, 0]), Math.log(2));
  assert.equal(divergence([0.3, 0.7], [0.3, 0.7]), 0);
  near(divergence([0.2, 0.8, 0], [0.5, 0.5, 0]), 0.5 * Math.log(2.5) + 0.5 * Math.log(0.625));
  assert.equal(divergence(null, [1]), null);
  assert.equal(divergence([1], null), null);
});

test("a divergence of normal distributions is in closed form, and by quadrature for mixtures", () => {
  const [before, after] = [normal(1, 2), normal(-3, 0.5)];
  const exact = Math.log(4) + (0.25 + 16) / 8 - 0.5;
  near(divergence(before, after), exact);
  const split = { w: [0.4, 0.6], m: [-3, -3], s: [0.5, 0.5] };
  near(divergence(before, split), exact, 1e-6);
  near(divergence({ w: [0.5, 0.5], m: [1, 1], s: [2, 2] }, after), exact, 1e-6);
  near(divergence(split, split), 0, 1e-12);
  // Components so far apart that each is only itself: log 2 for the choice between them.
  near(divergence({ w: [0.5, 0.5], m: [0, 1e4], s: [0.01, 3] }, normal(0, 0.01)), Math.log(2), 1e-6);
  assert.equal(divergence(before, normal(1, 0)), null);
  assert.equal(divergence(before, [0.5, 0.5]), null);
});

test("a density is the sum of its components, far out too", () => {
  near(densityAt(normal(0, 1), 0), 1 / Math.sqrt(2 * Math.PI));
  near(densityAt({ w: [0.25, 0.75], m: [0, 2], s: [1, 0.5] }, 1), 0.25 * 0.24197072451914337 + 0.75 * 2 * 0.05399096651318806);
  near(logDensityAt(normal(0, 1), 100), -5000.918938533205);
  assert.equal(densityAt(normal(3, 0), 3), Infinity);
  assert.equal(densityAt(normal(3, 0), 2), 0);
});

test("conflict compares findings one by one with all of them", () => {
  const prior = [[0.1, 0.9], [0.5, 0.5], normal(0, 1)];
  near(conflict(prior, { hard: { 0: 0 }, soft: { 1: [1, 0.2] }, values: {} }, Math.log(0.03)), Math.log((0.1 * 0.6) / 0.03));
  near(conflict(prior, { hard: { 0: 1 }, soft: {}, values: { 2: 0 } }, 0), Math.log(0.9) - 0.5 * Math.log(2 * Math.PI));
  assert.equal(conflict(prior, { hard: { 0: 1 }, soft: {}, values: {} }, Math.log(0.9)), null);
});

test("mutual information is an average of divergences", () => {
  near(mutualInformation([0.5, 0.5], [[1, 0], [0, 1]], [0.5, 0.5]), Math.log(2));
  near(mutualInformation([1, 0], [[0.3, 0.7], null], [0.3, 0.7]), 0);
});

test("probabilities are said as cases", () => {
  const said = { 1: "every case", 0.9999: "every case", 0.5: "1 case in 2", 0.1587: "1 case in 6.3", 0.04: "1 case in 25", 0.00412: "1 case in 240" };
  for (const [p, words] of Object.entries(said)) assert.equal(caseInWords(Math.log(+p)), words);
  assert.equal(caseInWords(-Math.log(24_321)), "1 case in 24,000");
  assert.equal(caseInWords(-Math.log(999_999)), "1 case in 1 million");
  assert.equal(caseInWords(-Math.log(2_431_000)), "1 case in 2.4 million");
  assert.equal(caseInWords(-Math.log(3.14e10)), "1 case in 31 billion");
  assert.equal(caseInWords(-41 * Math.LN10), "1 case in 10^41");
  assert.equal(caseInWords(-5000 * Math.LN10), "1 case in 10^5000");
  assert.equal(caseInWords(-Infinity), "no case");
  for (const power of range(400)) assert.match(caseInWords(-power), /^(every case|1 case in [\d.,^]+( (m|b|tr)illion)?)$/);
});
