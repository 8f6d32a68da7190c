// A joint normal distribution given some values: Σ_oo = L Lᵀ of what was observed, and regressions on it.

/** @typedef {import("./types.js").NormalSpec} NormalSpec */

/**
 * Return the lower Cholesky factor, or null where a matrix is not positive definite.
 *
 * @param {number[][]} matrix
 * @returns {Float64Array[] | null}
 */
export function cholesky(matrix) {
  /** @type {Float64Array[]} */
  const lower = [];
  for (let i = 0; i < matrix.length; i++) {
    lower.push(new Float64Array(i + 1));
    for (let j = 0; j <= i; j++) {
      let rest = matrix[i][j];
      for (let k = 0; k < j; k++) rest -= lower[i][k] * lower[j][k];
      if (i > j) lower[i][j] = rest / lower[j][j];
      else if (rest > 0) lower[i][i] = Math.sqrt(rest);
      else return null;
    }
  }
  return lower;
}

/**
 * @param {Float64Array[]} lower
 * @param {number[]} right
 * @returns {Float64Array}  L⁻¹ times a vector.
 */
function forwardSolved(lower, right) {
  const solution = Float64Array.from(right);
  lower.forEach((row, i) => {
    for (let k = 0; k < i; k++) solution[i] -= row[k] * solution[k];
    solution[i] /= row[i];
  });
  return solution;
}

/** @param {Float64Array} a @param {Float64Array} b */
const innerProduct = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/** A normal distribution given values of some of its variables. */
export class ConditionedNormal {
  /**
   * @param {NormalSpec} spec
   * @param {Record<number, number>} values
   */
  constructor({ mean, covariance }, values) {
    const observed = Object.keys(values).map(Number);
    const lower = cholesky(observed.map((i) => observed.map((j) => covariance[i][j])));
    /** Whether the covariance of what was observed is positive definite, so that there are answers. */
    this.proper = lower !== null;
    const factor = lower ?? [];
    const gap = forwardSolved(factor, lower ? observed.map((i) => values[i] - mean[i]) : []);
    const against = mean.map((_, j) => forwardSolved(factor, lower ? observed.map((i) => covariance[i][j]) : []));
    const seen = new Set(observed);
    /** The variables that were not observed. */
    this.free = mean.map((_, j) => j).filter((j) => !seen.has(j));
    this.mean = mean.map((value, j) => (seen.has(j) ? values[j] : value + innerProduct(against[j], gap)));
    /** The conditional covariance of two variables that were not observed; zero where one was. */
    this.covariance = (/** @type {number} */ i, /** @type {number} */ j) =>
      seen.has(i) || seen.has(j) ? 0 : covariance[i][j] - innerProduct(against[i], against[j]);
    this.sd = mean.map((_, j) => Math.sqrt(Math.max(0, this.covariance(j, j))));
    /** The log density of the values: −½ (k log 2π + |L⁻¹ gap|²) − log det L. */
    this.logDensity = factor.reduce(
      (sum, row, i) => sum - Math.log(row[i]) - 0.5 * (Math.log(2 * Math.PI) + gap[i] ** 2),
      0,
    );
  }

  /** The log density of all other variables at their conditional means, where it is greatest. */
  logPeak() {
    const lower = cholesky(this.free.map((i) => this.free.map((j) => this.covariance(i, j))));
    if (!lower) return Infinity;
    return lower.reduce((sum, row, i) => sum - Math.log(row[i]) - 0.5 * Math.log(2 * Math.PI), 0);
  }

  /**
   * The information that one variable has of another: −½ log(1 − ρ²).
   *
   * @param {number} i
   * @param {number} j
   */
  information(i, j) {
    const scale = this.sd[i] * this.sd[j];
    return scale > 0 ? -0.5 * Math.log1p(-Math.min((this.covariance(i, j) / scale) ** 2, 1 - 1e-16)) : 0;
  }
}
