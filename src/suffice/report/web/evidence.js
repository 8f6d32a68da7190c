// Evidence: what a question is given, changed by clicks, and written as text, as code and into the page's address.

/** @typedef {import("./types.js").Question} Question */
/** @typedef {import("./types.js").Entry} Entry */
/** @typedef {{hard: number} | {soft: number[]} | {value: number}} Finding */

/** @returns {Question} */
export function emptyQuestion() {
  return { hard: {}, soft: {}, values: {} };
}

/**
 * @param {Question} question
 * @returns {number[]}
 */
export function findings(question) {
  return [question.hard, question.soft, question.values].flatMap((part) => Object.keys(part).map(Number)).sort((a, b) => a - b);
}

/**
 * @param {Question} question
 * @param {number} node
 * @returns {Finding | null}
 */
export function findingOf(question, node) {
  if (node in question.hard) return { hard: question.hard[node] };
  if (node in question.soft) return { soft: question.soft[node] };
  if (node in question.values) return { value: question.values[node] };
  return null;
}

/**
 * @param {Question} question
 * @param {number} node
 * @returns {Question}
 */
export function withdraw(question, node) {
  const copy = { hard: { ...question.hard }, soft: { ...question.soft }, values: { ...question.values } };
  delete copy.hard[node];
  delete copy.soft[node];
  delete copy.values[node];
  return copy;
}

/**
 * Observe a state; observing it again withdraws it.
 *
 * @param {Question} question
 * @param {number} node
 * @param {number} code
 */
export function observe(question, node, code) {
  const copy = withdraw(question, node);
  if (question.hard[node] !== code) copy.hard[node] = code;
  return copy;
}

/**
 * @param {Question} question
 * @param {number} node
 * @param {number} value
 */
export function observeValue(question, node, value) {
  const copy = withdraw(question, node);
  copy.values[node] = value;
  return copy;
}

/**
 * Set the likelihood of one state; those of the others stay as they are, one unless set before.
 *
 * @param {Question} question
 * @param {number} node
 * @param {number} code
 * @param {number} likelihood
 * @param {number} size  The number of states.
 */
export function weigh(question, node, code, likelihood, size) {
  const copy = withdraw(question, node);
  const weights = question.soft[node] ? question.soft[node].slice() : new Array(size).fill(1);
  weights[code] = likelihood;
  if (weights.some((weight) => weight !== 1)) copy.soft[node] = weights;
  return copy;
}

/**
 * Rule a state out; ruling it out again takes that back. The last state that is left cannot be ruled out.
 *
 * @param {Question} question
 * @param {number} node
 * @param {number} code
 * @param {number} size
 */
export function exclude(question, node, code, size) {
  const weights = question.soft[node];
  const changed = weigh(question, node, code, weights && weights[code] === 0 ? 1 : 0, size);
  return node in changed.soft && changed.soft[node].every((weight) => weight === 0) ? question : changed;
}

/**
 * Whether two questions have the same evidence.
 *
 * @param {Question} a
 * @param {Question} b
 */
export function isSame(a, b) {
  return JSON.stringify([a.hard, a.soft, a.values]) === JSON.stringify([b.hard, b.soft, b.values]);
}

// In words ------------------------------------------------------------------------------------------------

/**
 * @param {Question} question
 * @param {number} node
 * @param {Entry[]} entries
 */
export function describe(question, node, entries) {
  const name = entries[node].n;
  const states = entries[node].s || [];
  if (node in question.hard) return name + " = " + states[question.hard[node]];
  if (node in question.values) return name + " = " + round(question.values[node]);
  const weights = question.soft[node];
  if (!weights) return name;
  const out = states.filter((_, code) => weights[code] === 0);
  if (weights.every((weight) => weight === 0 || weight === 1)) return name + " ≠ " + out.join(", ");
  return name + " ~ " + states.map((state, code) => state + " " + round(weights[code])).join(", ");
}

/** @param {number} value */
function round(value) {
  return String(parseFloat(value.toPrecision(6)));
}

// As code -------------------------------------------------------------------------------------------------

/**
 * The question as Python; states that are no text there come as literals.
 *
 * @param {Question} question
 * @param {number[]} targets
 * @param {Entry[]} entries
 * @param {Record<number, string[]>} literals
 */
export function asPython(question, targets, entries, literals) {
  const label = (/** @type {number} */ node, /** @type {number} */ code) =>
    literals[node] ? literals[node][code] : quotePython((entries[node].s || [])[code]);
  const given = findings(question).map((node) => {
    const finding = findingOf(question, node);
    let value = "";
    if (finding && "hard" in finding) value = label(node, finding.hard);
    if (finding && "value" in finding) value = String(finding.value);
    if (finding && "soft" in finding) {
      const known = finding.soft.map((weight, code) => ({ weight, code })).filter((pair) => pair.weight > 0);
      value = known.every((pair) => pair.weight === 1)
        ? "[" + known.map((pair) => label(node, pair.code)).join(", ") + "]"
        : "{" + known.map((pair) => label(node, pair.code) + ": " + round(pair.weight)).join(", ") + "}";
    }
    return quotePython(entries[node].n) + ": " + value;
  });
  const evidence = given.length > 1 ? "{\n    " + given.join(",\n    ") + ",\n}" : given.length ? "{" + given[0] + "}" : "";
  if (!targets.length) return "model.marginals(" + evidence + ")";
  const names = targets.map((node) => quotePython(entries[node].n));
  const asked = names.length === 1 ? names[0] : "[" + names.join(", ") + "]";
  return "model.query(" + asked + (evidence ? ", " + evidence : "") + ")";
}

/**
 * The question as a shell command.
 *
 * @param {Question} question
 * @param {number[]} targets
 * @param {Entry[]} entries
 * @param {string} model  The name of the model's file.
 */
export function asShell(question, targets, entries, model) {
  const given = findings(question).map((node) => {
    const states = entries[node].s || [];
    const finding = findingOf(question, node);
    let value = "";
    if (finding && "hard" in finding) value = states[finding.hard];
    if (finding && "value" in finding) value = String(finding.value);
    if (finding && "soft" in finding) {
      const known = finding.soft.map((weight, code) => ({ weight, code })).filter((pair) => pair.weight > 0);
      const only = known.every((pair) => pair.weight === 1);
      value = known.map((pair) => states[pair.code] + (only ? "" : ":" + round(pair.weight))).join(",");
    }
    return "-g " + quoteShell(entries[node].n + "=" + value);
  });
  const names = targets.map((node) => quoteShell(entries[node].n));
  const isOption = targets.some((node) => entries[node].n.startsWith("-"));
  const words = isOption ? [...given, "--", ...names] : [...names, ...given]; // behind -- nothing is an option
  return ["suffice query " + quoteShell(model), ...words].join(" ");
}

/** @param {string} text */
function quotePython(text) {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g, (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** @param {string} text */
function quoteShell(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
}

// In the address ------------------------------------------------------------------------------------------

/**
 * What the page's address keeps: evidence and pinned targets, by name.
 *
 * @param {Question} question
 * @param {number[]} pinned
 * @param {Entry[]} entries
 */
export function toFragment(question, pinned, entries) {
  const parts = new URLSearchParams();
  for (const node of findings(question)) {
    const finding = findingOf(question, node);
    const states = entries[node].s || [];
    if (finding && "hard" in finding) parts.append("is." + entries[node].n, states[finding.hard]);
    if (finding && "value" in finding) parts.append("at." + entries[node].n, String(finding.value));
    if (finding && "soft" in finding) parts.append("like." + entries[node].n, finding.soft.map(String).join(","));
  }
  for (const node of pinned) parts.append("pin", entries[node].n);
  return parts.toString();
}

/**
 * Read evidence and pinned targets from an address; what the model does not have is left out.
 *
 * @param {string} text
 * @param {Entry[]} entries
 * @param {number} n  The number of nodes.
 */
export function fromFragment(text, entries, n) {
  const question = emptyQuestion();
  /** @type {number[]} */
  const pinned = [];
  const place = new Map(entries.slice(0, n).map((entry, node) => [entry.n, node]));
  for (const [key, value] of new URLSearchParams(text.replace(/^#/, ""))) {
    const dot = key.indexOf(".");
    const node = place.get(key === "pin" ? value : key.slice(dot + 1));
    if (node === undefined) continue;
    const states = entries[node].s || [];
    if (key === "pin") pinned.push(node);
    const kind = key.slice(0, dot);
    if (kind === "is" && states.includes(value)) question.hard[node] = states.indexOf(value);
    const at = Number(value);
    if (kind === "at" && !states.length && value !== "" && Number.isFinite(at)) question.values[node] = at;
    const weights = value.split(",").map(Number);
    const isFit = weights.length === states.length && weights.every((weight) => weight >= 0 && Number.isFinite(weight));
    if (kind === "like" && isFit && weights.some((weight) => weight > 0)) question.soft[node] = weights;
  }
  for (const node of Object.keys(question.hard).map(Number)) delete question.soft[node];
  return { question, pinned: [...new Set(pinned)] };
}
