// Monitors: the box of a node, with one bar per state, or with a density.

import { draw, percent, nats, shorten, widthOf } from "./dom.js";
import { densityAt } from "./insight.js";

/** @typedef {import("./types.js").Marginal} Marginal */
/** @typedef {import("./types.js").Density} Density */
/** @typedef {import("./evidence.js").Finding} Finding */

/**
 * What a monitor shows.
 *
 * @typedef {Object} View
 * @property {Marginal} now
 * @property {boolean} isUnknown  Whether there is an answer, and the distribution is not in it.
 * @property {Marginal} before  Without evidence, or in the case that is compared with.
 * @property {boolean} compares  Whether both have bars of their own.
 * @property {Finding | null} finding
 * @property {number | null} moved  KL in nats.
 * @property {number[][] | null} whiskers
 * @property {boolean} pinned
 */

// Pixels; report/page/monitors.py has the same heights.
const TITLE = 28;
const ROW = 20;
const CURVE = 64;
const ROWS = 12;
const BAR = 78;
const PERCENT = 52;
const PAD = 10;
const NAME = "600 13px";
const SMALL = "11.5px";
const POINTS = 80;

/**
 * @param {Marginal} marginal
 * @returns {marginal is Density}
 */
export function isDensity(marginal) {
  return marginal !== null && !Array.isArray(marginal);
}

/**
 * Draw the box of a node, its bars empty.
 *
 * @param {number} node
 * @param {string} name
 * @param {string[]} states
 * @param {string} kind
 * @param {[number, number, number, number]} box
 * @param {boolean} hasMonitor  Whether anything is known about its distribution.
 * @returns {SVGGElement}
 */
export function drawMonitor(node, name, states, kind, box, hasMonitor) {
  const [left, top, width, height] = box;
  const group = draw("g", {
    class: "node " + kind, "data-i": node, tabindex: -1, role: "group", "aria-label": name, transform: `translate(${left} ${top})`,
  });
  group.append(draw("title", {}, name), draw("rect", { class: "box", width, height, rx: 8 }));
  if (!hasMonitor) {
    group.append(draw("text", { class: "name plain", x: width / 2, y: 18.5 }, shorten(name, width - 12, "13px")));
    return group;
  }
  group.append(draw("text", { class: "name", x: PAD, y: 19 }), draw("text", { class: "moved", x: width - PAD, y: 19 }));
  if (kind === "continuous") {
    const curve = draw("g", { class: "curve", transform: `translate(${PAD} ${TITLE})` });
    const size = { width: width - 2 * PAD, height: CURVE - 18 };
    curve.append(
      draw("rect", { class: "field", ...size }), draw("path", { class: "before" }), draw("path", { class: "now" }),
      draw("line", { class: "seen", y1: 0, y2: size.height }), draw("text", { class: "moments", x: size.width / 2, y: CURVE - 4 }),
    );
    group.append(curve);
    return group;
  }
  const shown = states.length > ROWS ? ROWS - 1 : states.length;
  const start = width - PAD - PERCENT - BAR;
  for (let code = 0; code < shown; code += 1) {
    const row = draw("g", { class: "state", "data-code": code, role: "button", tabindex: -1, transform: `translate(0 ${TITLE + ROW * code})` });
    row.append(
      draw("rect", { class: "hit", x: 4, width: width - 8, height: ROW, rx: 3 }),
      draw("text", { class: "label", x: PAD, y: 14 }, shorten(states[code], start - PAD - 4, SMALL)),
      draw("rect", { class: "track", x: start, y: 4, width: BAR, height: 12, rx: 2 }),
      draw("rect", { class: "bar before", x: start, y: 4, height: 6, rx: 1 }),
      draw("rect", { class: "bar now", x: start, y: 4, height: 12, rx: 2 }),
      draw("path", { class: "whisker" }),
      draw("line", { class: "tick", y1: 2, y2: 18 }),
      draw("line", { class: "weight", y1: 1, y2: 19 }),
      draw("text", { class: "percent", x: width - PAD, y: 14 }),
    );
    row.append(draw("title", {}, states[code]));
    group.append(row);
  }
  if (shown < states.length) {
    const text = "… " + (states.length - shown) + " more states";
    group.append(draw("text", { class: "label rest", x: PAD, y: TITLE + ROW * shown + 14 }, text));
  }
  return group;
}

/**
 * Show a distribution in a box that was drawn.
 *
 * @param {SVGGElement} group
 * @param {string} name
 * @param {string[]} states
 * @param {View} view
 */
export function showMonitor(group, name, states, view) {
  const title = group.querySelector(".name");
  const note = group.querySelector(".moved");
  const box = group.querySelector(".box");
  if (!title || !note || !box) return;
  const width = Number(box.getAttribute("width"));
  const finding = view.finding;
  const isHard = finding !== null && !("soft" in finding);
  const text = (view.pinned ? "★ " : "") + name;
  const room = width - 2 * PAD - 8;
  const said = (isHard ? ["observed ✕", "✕"] : finding ? ["evidence ✕", "✕"] : view.isUnknown ? ["not known", "?"] : view.moved === null ? [""]
    : ["Δ " + nats(view.moved) + " nats", "Δ " + nats(view.moved), ""]).find((note, k, notes) =>
    k === notes.length - 1 || widthOf(text, NAME) + widthOf(note, "10.5px") <= room) || "";
  note.textContent = said;
  title.textContent = shorten(text, room - widthOf(said, "10.5px"), NAME);
  group.classList.toggle("observed", isHard);
  group.classList.toggle("weighed", finding !== null && !isHard);
  group.classList.toggle("pinned", view.pinned);
  if (states.length) showBars(group, name, states, view, width - PAD - PERCENT - BAR);
  else showCurve(group, name, view);
  if (view.isUnknown) group.setAttribute("aria-label", name + ": not known");
}

/**
 * @param {SVGGElement} group
 * @param {string} name
 * @param {string[]} states
 * @param {View} view
 * @param {number} start  Where bars begin.
 */
function showBars(group, name, states, view, start) {
  const now = Array.isArray(view.now) ? view.now : null;
  const before = Array.isArray(view.before) ? view.before : null;
  const finding = view.finding;
  /** @type {string[]} */
  const said = [];
  for (const row of /** @type {NodeListOf<SVGGElement>} */ (group.querySelectorAll(".state"))) {
    const code = Number(row.dataset.code);
    const p = now ? now[code] : null;
    const part = (/** @type {string} */ name) => /** @type {SVGElement} */ (row.querySelector(name));
    const bar = part(".bar.now");
    bar.setAttribute("width", String(BAR * (p || 0)));
    bar.setAttribute("y", view.compares ? "10" : "4");
    bar.setAttribute("height", view.compares ? "6" : "12");
    part(".bar.before").setAttribute("width", String(view.compares && before ? BAR * before[code] : 0));
    const tick = part(".tick");
    const x = String(start + BAR * (before ? before[code] : 0));
    tick.setAttribute("x1", x);
    tick.setAttribute("x2", x);
    tick.classList.toggle("none", before === null || p === null || view.compares || Math.abs(before[code] - p) < 1e-12);
    const ends = view.whiskers && view.whiskers[code];
    const [low, high] = ends ? ends.map((end) => start + BAR * end) : [0, 0];
    part(".whisker").setAttribute("d", ends ? `M${low} 7V13M${low} 10H${high}M${high} 7V13` : "");
    const weight = part(".weight");
    const likelihood = finding && "soft" in finding ? finding.soft[code] : null;
    const at = String(start + BAR * Math.min(1, likelihood || 0));
    weight.setAttribute("x1", at);
    weight.setAttribute("x2", at);
    weight.classList.toggle("none", likelihood === null);
    row.classList.toggle("out", likelihood === 0);
    const text = p !== null ? percent(p) : view.isUnknown ? "–" : "";
    part(".percent").textContent = text;
    const isSeen = finding !== null && "hard" in finding && finding.hard === code;
    row.setAttribute("aria-pressed", String(isSeen));
    const was = before ? ", before " + percent(before[code]) : "";
    const role = likelihood === 0 ? ", ruled out" : likelihood !== null ? ", likelihood " + likelihood : "";
    row.setAttribute("aria-label", name + " = " + states[code] + ": " + (view.isUnknown ? "not known" : text) + was + role);
    if (said.length < 4) said.push(states[code] + " " + text);
  }
  group.setAttribute("aria-label", name + ": " + said.join(", ") + (finding ? "; evidence" : ""));
}

/**
 * The values that a density is drawn over: those that were likely before, and those that are now.
 *
 * @param {View} view
 * @returns {[number, number]}
 */
export function rangeOf(view) {
  let low = Infinity;
  let high = -Infinity;
  for (const density of [view.before, view.now]) {
    if (!isDensity(density)) continue;
    density.m.forEach((mean, j) => {
      low = Math.min(low, mean - 3.5 * density.s[j]);
      high = Math.max(high, mean + 3.5 * density.s[j]);
    });
  }
  return high > low ? [low, high] : [low - 1, high + 1];
}

/**
 * @param {SVGGElement} group
 * @param {string} name
 * @param {View} view
 */
function showCurve(group, name, view) {
  const now = isDensity(view.now) ? view.now : null;
  const part = (/** @type {string} */ selector) => /** @type {SVGElement} */ (group.querySelector(selector));
  const field = part(".field");
  const width = Number(field.getAttribute("width"));
  const height = Number(field.getAttribute("height"));
  const [low, high] = rangeOf(view);
  const isPoint = now !== null && now.s.every((sd) => sd === 0);
  const before = isDensity(view.before) ? heights(view.before, low, high) : null;
  const after = now === null || isPoint ? null : heights(now, low, high);
  const top = Math.max(...(before || [0]), ...(after || [0]), 1e-300);
  part(".before").setAttribute("d", before ? path(before, width, height, top, false) : "");
  part(".now").setAttribute("d", after ? path(after, width, height, top, true) : "");
  const seen = part(".seen");
  seen.classList.toggle("none", !isPoint);
  if (now === null) {
    part(".moments").textContent = view.isUnknown ? "not known" : "";
    return;
  }
  const x = String((width * (now.m[0] - low)) / (high - low));
  seen.setAttribute("x1", x);
  seen.setAttribute("x2", x);
  const mean = now.w.reduce((sum, w, j) => sum + w * now.m[j], 0);
  const square = now.w.reduce((sum, w, j) => sum + w * (now.s[j] ** 2 + (now.m[j] - mean) ** 2), 0);
  const inDigits = (/** @type {number} */ digits) => (isPoint ? "= " + short(mean, digits) : "mean " + short(mean, digits) + ", sd " + short(Math.sqrt(square), digits));
  const said = inDigits(4);
  part(".moments").textContent = shorten([4, 3, 2].map(inDigits).find((text) => widthOf(text, SMALL) <= width) || said, width, SMALL);
  group.setAttribute("aria-label", name + ": " + said + (view.finding ? "; observed" : ""));
}

/**
 * @param {Density} density
 * @param {number} low
 * @param {number} high
 */
function heights(density, low, high) {
  return Array.from({ length: POINTS + 1 }, (_, k) => densityAt(density, low + ((high - low) * k) / POINTS));
}

/**
 * @param {number[]} ys
 * @param {number} width
 * @param {number} height
 * @param {number} top
 * @param {boolean} isFilled
 */
function path(ys, width, height, top, isFilled) {
  const points = ys.map((y, k) => ((width * k) / POINTS).toFixed(1) + " " + (height * (1 - y / top)).toFixed(1));
  return "M" + points.join("L") + (isFilled ? `L${width} ${height}L0 ${height}Z` : "");
}

/** @param {number} value @param {number} [digits] */
export function short(value, digits = 4) {
  return String(parseFloat(value.toPrecision(digits))).replace("-", "−");
}
