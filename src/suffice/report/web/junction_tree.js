// Exact inference on a junction tree: Shafer and Shenoy's sums of products, in logarithms, so that nothing underflows.
//
// The table of a clique is a sum of logarithms beside a count of the zeros in each product. A term, be it a factor or a
// message, can thus be taken out again even where it is zero: no message is ever divided by zero.

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").TreeSpec} TreeSpec */
/** @typedef {import("./types.js").Explanation} Explanation */

/** Log-probabilities closer than this are named as tied, as in `suffice.inference.maximum`. */
const TIED = 1e-9;
/** Of states closer than this the first is taken, so that the choice does not hang on the last bit. */
const ROUNDING = 1e-12;

/**
 * Return, for every cell of a table over `members`, the cell of a table over `scope`; what `scope` lacks is summed out.
 *
 * @param {number[]} members
 * @param {number[]} scope
 * @param {number[]} sizes
 * @returns {Int32Array}
 */
function projection(members, scope, sizes) {
  const step = strides(scope, sizes);
  let cells = Int32Array.of(0);
  for (const variable of members) {
    const size = sizes[variable];
    const by = step.get(variable) ?? 0;
    const next = new Int32Array(cells.length * size);
    for (let cell = 0; cell < cells.length; cell++) {
      for (let state = 0; state < size; state++) next[cell * size + state] = cells[cell] + state * by;
    }
    cells = next;
  }
  return cells;
}

/**
 * @param {number[]} scope
 * @param {number[]} sizes
 * @returns {Map<number, number>}  How far apart the states of each variable are; the last runs fastest.
 */
function strides(scope, sizes) {
  const found = new Map();
  let stride = 1;
  for (let axis = scope.length - 1; axis >= 0; axis--) {
    found.set(scope[axis], stride);
    stride *= sizes[scope[axis]];
  }
  return found;
}

/**
 * @param {number[]} scope
 * @param {number[]} sizes
 */
const cellsOver = (scope, sizes) => scope.reduce((cells, variable) => cells * sizes[variable], 1);

/**
 * The separator between a clique and the one above it, with room for the message that goes up.
 *
 * @typedef {Object} Separator
 * @property {Int32Array} below  Its cell for every cell of the clique.
 * @property {Int32Array} above  The same for the clique above.
 * @property {Float64Array} logs  The message, its largest value being zero.
 * @property {Uint8Array} zeros
 * @property {number} shift  What was taken from its logarithms.
 * @property {Uint8Array} none  No zeros.
 */

/** A discrete model, ready to be asked. */
export class JunctionTree {
  /** @param {TreeSpec} spec */
  constructor(spec) {
    this.spec = spec;
    const { sizes, cliques } = spec;
    this.cells = cliques.map((members) => cellsOver(members, sizes));
    this.starts = [0];
    for (const cells of this.cells) this.starts.push(/** @type {number} */ (this.starts.at(-1)) + cells);
    const roots = cliques.map((_, clique) => clique).filter((clique) => spec.above[clique] < 0);
    /** The clique above each. Trees are joined by empty separators, so that only the last clique has none. */
    this.above = [...spec.above];
    roots.slice(1).forEach((root, place) => (this.above[roots[place]] = root));
    this.separators = cliques.map((members, clique) => this.#separator(members, this.above[clique]));

    /** @type {number[][]} */
    const holding = sizes.map(() => []);
    cliques.forEach((members, clique) => members.forEach((variable) => holding[variable].push(clique)));
    /** The smallest clique that holds each variable. @type {number[]} */
    this.homes = holding.map((found) => this.#smallest(found));
    /** The state of each variable in every cell of that clique. */
    this.states = sizes.map((_, variable) => projection(cliques[this.homes[variable]], [variable], sizes));
    const members = cliques.map((clique) => new Set(clique));
    /** The smallest clique that covers each factor. @type {number[]} */
    this.factorHomes = spec.factors.map(({ scope }) => {
      const near = scope.length ? holding[scope[0]] : cliques.map((_, clique) => clique);
      return this.#smallest(near.filter((clique) => scope.every((variable) => members[clique].has(variable))));
    });

    const total = /** @type {number} */ (this.starts.at(-1));
    this.logs = new Float64Array(total);
    this.zeros = new Uint16Array(total);
    spec.factors.forEach(({ scope, values }, number) => {
      const home = this.factorHomes[number];
      this.#multiply(this, home, projection(cliques[home], scope, sizes), values);
    });
    /** log Z without evidence. */
    this.logZ = this.logSum({ hard: {}, soft: {}, values: {} });
  }

  /**
   * @param {number[]} members
   * @param {number} above
   * @returns {Separator}
   */
  #separator(members, above) {
    const { sizes, cliques } = this.spec;
    const others = new Set(above < 0 ? [] : cliques[above]);
    const scope = members.filter((variable) => others.has(variable));
    const size = cellsOver(scope, sizes);
    return {
      below: projection(members, scope, sizes),
      above: above < 0 ? new Int32Array() : projection(cliques[above], scope, sizes),
      logs: new Float64Array(size),
      zeros: new Uint8Array(size),
      shift: 0,
      none: new Uint8Array(size),
    };
  }

  /** @param {number[]} cliques */
  #smallest(cliques) {
    return cliques.reduce((best, clique) => (this.cells[clique] < this.cells[best] ? clique : best));
  }

  /**
   * Multiply a clique's table by values, given which of them belongs to each cell.
   *
   * @param {{logs: Float64Array, zeros: Uint16Array}} tables
   * @param {number} clique
   * @param {Int32Array} map
   * @param {ArrayLike<number>} values
   */
  #multiply({ logs, zeros }, clique, map, values) {
    const start = this.starts[clique];
    const logarithms = Float64Array.from(values, (value) => (value > 0 ? Math.log(value) : -Infinity));
    for (let cell = 0; cell < map.length; cell++) {
      const term = logarithms[map[cell]];
      if (term === -Infinity) zeros[start + cell]++;
      else logs[start + cell] += term;
    }
  }

  /**
   * Return the tables of all cliques with the evidence and all messages towards the last clique.
   *
   * @param {Question} question
   * @param {boolean} greatest  Whether messages are maxima instead of sums.
   */
  #collect(question, greatest) {
    const { sizes, cliques } = this.spec;
    const tables = { logs: this.logs.slice(), zeros: this.zeros.slice(), shifts: new Float64Array(cliques.length) };
    /** @type {Record<number, number[]>} */
    const findings = { ...question.soft };
    for (const [variable, code] of Object.entries(question.hard)) {
      findings[+variable] = Array.from({ length: sizes[+variable] }, (_, state) => (state === code ? 1 : 0));
    }
    for (const [variable, likelihood] of Object.entries(findings)) {
      this.#multiply(tables, this.homes[+variable], this.states[+variable], likelihood);
    }
    for (let clique = 0; clique < cliques.length - 1; clique++) {
      const above = this.above[clique];
      const edge = this.separators[clique];
      const { logs, zeros } = this.#table(tables, clique);
      edge.shift = sumOnto(logs, zeros, edge.below, edge.none, edge.logs, edge.zeros, greatest);
      tables.shifts[above] += tables.shifts[clique] + edge.shift;
      absorbMessage(this.#table(tables, above), edge.above, edge.logs, edge.zeros);
    }
    return tables;
  }

  /**
   * Send messages from the last clique outwards: every table is then that of its clique's beliefs.
   *
   * @param {{logs: Float64Array, zeros: Uint16Array, shifts: Float64Array}} tables
   * @param {boolean} greatest
   */
  #distribute(tables, greatest) {
    for (let clique = this.above.length - 2; clique >= 0; clique--) {
      const above = this.above[clique];
      const edge = this.separators[clique];
      const { logs, zeros } = this.#table(tables, above);
      const message = new Float64Array(edge.logs.length);
      const gone = new Uint8Array(edge.logs.length);
      // What came up is constant within a cell of the separator: take it out of the sum, not of every term.
      const shift = sumOnto(logs, zeros, edge.above, edge.zeros, message, gone, greatest, edge.logs);
      tables.shifts[clique] = tables.shifts[above] - edge.shift + shift;
      absorbMessage(this.#table(tables, clique), edge.below, message, gone);
    }
  }

  /**
   * @param {{logs: Float64Array, zeros: Uint16Array}} tables
   * @param {number} clique
   */
  #table({ logs, zeros }, clique) {
    const [start, end] = [this.starts[clique], this.starts[clique + 1]];
    return { logs: logs.subarray(start, end), zeros: zeros.subarray(start, end) };
  }

  /**
   * Return log Σ Π φ over the configurations that agree with the evidence; soft evidence is another factor.
   *
   * @param {Question} question
   * @returns {number}
   */
  logSum(question) {
    return this.#logTotal(this.#collect(question, false));
  }

  /** @param {{logs: Float64Array, zeros: Uint16Array, shifts: Float64Array}} tables */
  #logTotal(tables) {
    const root = this.cells.length - 1;
    const { logs, zeros } = this.#table(tables, root);
    const total = new Float64Array(1);
    const gone = new Uint8Array(1);
    const shift = sumOnto(logs, zeros, new Int32Array(logs.length), gone.slice(), total, gone, false);
    return gone[0] ? -Infinity : tables.shifts[root] + shift;
  }

  /**
   * Return all marginals given evidence.
   *
   * @param {Question} question
   * @returns {Calibration}
   */
  calibrate(question) {
    const tables = this.#collect(question, false);
    const logZ = this.#logTotal(tables);
    this.#distribute(tables, false);
    return new Calibration(this, tables, logZ);
  }

  /**
   * Return the most probable configuration with its ties, or null where nothing is possible.
   *
   * @param {Question} question
   * @param {number} [logZ]  log Z given the evidence, where it is known.
   * @returns {Explanation | null}
   */
  maximise(question, logZ = this.logSum(question)) {
    if (logZ === -Infinity) return null;
    const { sizes, cliques } = this.spec;
    const tables = this.#collect(question, true);
    this.#distribute(tables, true);
    /** @type {(number | null)[]} */
    const states = sizes.map(() => null);
    let best = 0;
    for (let clique = cliques.length - 1; clique >= 0; clique--) {
      const { logs, zeros } = this.#table(tables, clique);
      const step = strides(cliques[clique], sizes);
      let cells = [0];
      for (const variable of cliques[clique]) {
        const chosen = states[variable];
        const codes = chosen === null ? Array.from({ length: sizes[variable] }, (_, code) => code) : [chosen];
        const stride = /** @type {number} */ (step.get(variable));
        cells = cells.flatMap((cell) => codes.map((code) => cell + code * stride));
      }
      const possible = cells.filter((cell) => !zeros[cell]);
      const top = possible.reduce((most, cell) => Math.max(most, logs[cell]), -Infinity);
      const first = /** @type {number} */ (possible.find((cell) => logs[cell] >= top - ROUNDING));
      for (const [variable, stride] of step) states[variable] = Math.floor(first / stride) % sizes[variable];
      if (clique === cliques.length - 1) best = logs[first] + tables.shifts[clique];
    }
    return { states, ties: this.#ties(tables), logGiven: best - logZ };
  }

  /**
   * Return the variables that have several states among the most probable configurations, with these.
   *
   * @param {{logs: Float64Array, zeros: Uint16Array}} tables  Of max-marginals.
   */
  #ties(tables) {
    /** @type {Record<number, number[]>} */
    const ties = {};
    this.spec.sizes.forEach((size, variable) => {
      const { logs, zeros } = this.#table(tables, this.homes[variable]);
      const most = new Float64Array(size);
      const gone = new Uint8Array(size);
      sumOnto(logs, zeros, this.states[variable], new Uint8Array(size), most, gone, true);
      const codes = [...most.keys()].filter((code) => !gone[code] && most[code] >= -TIED);
      if (codes.length > 1) ties[variable] = codes;
    });
    return ties;
  }

  /**
   * Return nodes whose findings exclude each other, none of which can be left out; the evidence must be impossible.
   *
   * The shortest impossible beginning ends in a finding that belongs to them. It comes first, and so on.
   *
   * @param {Question} question
   * @returns {number[]}
   */
  clash(question) {
    /** @type {number[]} */
    const core = [];
    let rest = [...Object.keys(question.hard), ...Object.keys(question.soft)].map(Number);
    const impossible = (/** @type {number[]} */ nodes) => this.logSum(onlyOn(question, nodes)) === -Infinity;
    while (!impossible(core)) {
      let [possible, enough] = [0, rest.length];
      while (enough - possible > 1) {
        const middle = (possible + enough) >> 1;
        if (impossible([...core, ...rest.slice(0, middle)])) enough = middle;
        else possible = middle;
      }
      core.push(rest[enough - 1]);
      rest = rest.slice(0, enough - 1);
    }
    return core.sort((a, b) => a - b);
  }
}

/** The beliefs of all cliques given evidence. */
export class Calibration {
  /**
   * @param {JunctionTree} tree
   * @param {{logs: Float64Array, zeros: Uint16Array, shifts: Float64Array}} tables
   * @param {number} logZ  log Σ Π φ over what agrees with the evidence.
   */
  constructor(tree, tables, logZ) {
    this.tree = tree;
    this.tables = tables;
    this.logZ = logZ;
  }

  /**
   * Return p(variable | evidence) for every variable; null where the evidence is impossible.
   *
   * @returns {number[][] | null}
   */
  marginals() {
    if (this.logZ === -Infinity) return null;
    const { spec, homes, states } = this.tree;
    /** @type {Map<number, Float64Array>} */
    const beliefs = new Map();
    return spec.sizes.map((size, variable) => {
      const belief = beliefs.get(homes[variable]) ?? this.#belief(homes[variable]);
      beliefs.set(homes[variable], belief);
      return summedTo(size, belief, states[variable]);
    });
  }

  /** @param {number} clique */
  #belief(clique) {
    const [start, end] = [this.tree.starts[clique], this.tree.starts[clique + 1]];
    const { logs, zeros } = this.tables;
    let top = -Infinity;
    for (let cell = start; cell < end; cell++) if (!zeros[cell] && logs[cell] > top) top = logs[cell];
    const belief = new Float64Array(end - start);
    for (let cell = start; cell < end; cell++) if (!zeros[cell]) belief[cell - start] = Math.exp(logs[cell] - top);
    return belief;
  }

  /**
   * Return p(scope of a factor | evidence), flat in the order of its values; null where the evidence is impossible.
   *
   * @param {number} factor
   * @returns {number[] | null}
   */
  family(factor) {
    if (this.logZ === -Infinity) return null;
    const { spec, factorHomes } = this.tree;
    const home = factorHomes[factor];
    const { scope, values } = spec.factors[factor];
    const map = projection(spec.cliques[home], scope, spec.sizes);
    return summedTo(values.length, this.#belief(home), map);
  }

  /**
   * Return ∂Z/∂θ over exp(logUnit) for every entry θ of a factor: the sum over what agrees with the entry and the
   * evidence, of the product of all other factors.
   *
   * @param {number} factor
   * @param {number} logUnit
   * @returns {Float64Array}
   */
  derivatives(factor, logUnit) {
    const { spec, factorHomes, starts } = this.tree;
    const home = factorHomes[factor];
    const { scope, values } = spec.factors[factor];
    const map = projection(spec.cliques[home], scope, spec.sizes);
    const { logs, zeros, shifts } = this.tables;
    const sums = new Float64Array(values.length);
    for (let cell = 0; cell < map.length; cell++) {
      const entry = values[map[cell]];
      if (zeros[starts[home] + cell] !== (entry > 0 ? 0 : 1)) continue;
      const rest = logs[starts[home] + cell] - (entry > 0 ? Math.log(entry) : 0);
      sums[map[cell]] += Math.exp(rest + shifts[home] - logUnit);
    }
    return sums;
  }
}

/**
 * Sum a table out onto a separator, or take maxima, and return what was taken from the logarithms: the largest is zero.
 *
 * @param {Float64Array} logs
 * @param {Uint16Array} zeros
 * @param {Int32Array} map  The separator's cell of every cell.
 * @param {Uint8Array} except  By the separator's cell: zeros that are to be taken out of the product.
 * @param {Float64Array} result
 * @param {Uint8Array} gone  Whether each result is zero.
 * @param {boolean} greatest
 * @param {Float64Array} [without]  By the separator's cell: logarithms that are to be taken out.
 * @returns {number}
 */
function sumOnto(logs, zeros, map, except, result, gone, greatest, without) {
  const n = map.length;
  result.fill(-Infinity);
  for (let cell = 0; cell < n; cell++) {
    const at = map[cell];
    if (zeros[cell] === except[at] && logs[cell] > result[at]) result[at] = logs[cell];
  }
  if (!greatest) {
    const sums = new Float64Array(result.length);
    for (let cell = 0; cell < n; cell++) {
      const at = map[cell];
      if (zeros[cell] === except[at]) sums[at] += Math.exp(logs[cell] - result[at]);
    }
    for (let at = 0; at < sums.length; at++) if (sums[at] > 0) result[at] += Math.log(sums[at]);
  }
  let top = -Infinity;
  for (let at = 0; at < result.length; at++) {
    if (without) result[at] -= without[at];
    if (result[at] > top) top = result[at];
  }
  if (top === -Infinity) top = 0;
  for (let at = 0; at < result.length; at++) {
    gone[at] = result[at] === -Infinity ? 1 : 0;
    result[at] = gone[at] ? 0 : result[at] - top;
  }
  return top;
}

/**
 * Multiply a table by a message.
 *
 * @param {{logs: Float64Array, zeros: Uint16Array}} table
 * @param {Int32Array} map
 * @param {Float64Array} message
 * @param {Uint8Array} gone
 */
function absorbMessage({ logs, zeros }, map, message, gone) {
  for (let cell = 0; cell < map.length; cell++) {
    logs[cell] += message[map[cell]];
    zeros[cell] += gone[map[cell]];
  }
}

/**
 * @param {number} size
 * @param {Float64Array} weights
 * @param {Int32Array} map
 * @returns {number[]}  The sums of the weights at each place of a map, over the sum of all.
 */
function summedTo(size, weights, map) {
  const sums = new Array(size).fill(0);
  for (let cell = 0; cell < map.length; cell++) sums[map[cell]] += weights[cell];
  const total = sums.reduce((sum, weight) => sum + weight, 0);
  return sums.map((sum) => sum / total);
}

/**
 * @param {Question} question
 * @param {number[]} nodes
 * @returns {Question}  The findings on some nodes.
 */
function onlyOn(question, nodes) {
  /** @type {Question} */
  const found = { hard: {}, soft: {}, values: {} };
  for (const node of nodes) {
    if (node in question.hard) found.hard[node] = question.hard[node];
    else found.soft[node] = question.soft[node];
  }
  return found;
}
