// The engine of a page that is served: Python answers, on the same machine.

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Engine} Engine */
/** @typedef {import("./types.js").Entry} Entry */
/** @typedef {import("./types.js").Layout} Layout */

/**
 * A row of the data as evidence.
 *
 * @typedef {Object} EvidenceRow
 * @property {Record<number, number>} hard
 * @property {Record<number, number>} values
 * @property {number[]} [missing]  Nodes that have a column but no value.
 * @property {number[]} [unknown]  Nodes whose value is no state of the model.
 */

/**
 * @typedef {Object} EvidenceRows
 * @property {EvidenceRow[]} rows
 * @property {number} total  How many rows there are in all.
 * @property {string[]} notes  What was left out.
 */

/**
 * @typedef {Object} Served
 * @property {(node: number, radius?: number) => Promise<Layout>} neighbourhood  A node and those around it, 1 to 3 edges away.
 * @property {(node: number) => Promise<Entry>} entry  All that there is to show of a node.
 * @property {(start: number, count: number) => Promise<EvidenceRows>} rows  Counted from 0.
 */

const ENDED = "The server has ended. Start it again: suffice explore …";

/**
 * Answer by the server that the page comes from.
 *
 * Each engine counts its requests. A newer question ends older ones that were not answered, whose promises then reject
 * with an `AbortError`; so do newer requests for insights, or for intervals. Engines do not end each other's requests.
 *
 * @param {string} token
 * @returns {Engine & Served}
 */
export function servedEngine(token) {
  const page = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
  let number = 0;
  /** What is under way and can be superseded, by path. @type {Map<string, AbortController>} */
  const underWay = new Map();

  /**
   * @param {string} path
   * @param {Record<string, unknown>} document
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  async function post(path, document, signal) {
    const headers = { "Content-Type": "application/json", "X-Suffice-Token": token };
    const request = { method: "POST", headers, body: JSON.stringify(document), signal, credentials: /** @type {const} */ ("omit"), cache: /** @type {const} */ ("no-store") };
    /** @type {Response} */
    let response;
    /** @type {any} */
    let found;
    try {
      response = await fetch(path, request);
      found = await response.json();
    } catch (error) {
      throw signal?.aborted ? error : new Error(ENDED);
    }
    if (response.status === 409) throw new DOMException("A newer question has replaced this one.", "AbortError");
    if (response.status === 403) throw new Error(ENDED); // another server has taken the port
    if (!response.ok) throw new Error(String(found?.error ?? "The server gave no answer."));
    return found;
  }

  /**
   * Post what a newer request supersedes; a newer question supersedes everything.
   *
   * @param {string} path
   * @param {Record<string, unknown>} document
   * @returns {Promise<any>}
   */
  async function postNewest(path, document) {
    for (const older of path === "/answer" ? underWay.keys() : [path]) underWay.get(older)?.abort();
    const controller = new AbortController();
    underWay.set(path, controller);
    try {
      return await post(path, { ...document, page, number: ++number }, controller.signal);
    } finally {
      if (underWay.get(path) === controller) underWay.delete(path);
    }
  }

  return {
    async answer(question) {
      const found = await postNewest("/answer", { question });
      // JSON has neither infinity nor NaN.
      if (found.logEvidence === null) found.logEvidence = found.refusal ? NaN : -Infinity;
      return found;
    },
    async insights(question, target) {
      const found = await postNewest("/insights", { question, target });
      if (found.explanation && found.explanation.logGiven === null) found.explanation.logGiven = NaN;
      return found;
    },
    intervals: (question) => postNewest("/intervals", { question }),
    neighbourhood: (node, radius = 1) => post("/neighbourhood", { node, radius }),
    entry: (node) => post("/entry", { node }),
    rows: (start, count) => post("/rows", { start, count }),
  };
}
