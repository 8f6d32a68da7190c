// Making elements, and writing numbers. Text from the data reaches the page through textContent and attributes only.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [name]  The class.
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * @param {string} name  The class.
 * @param {string} text
 * @param {(event: MouseEvent) => void} act
 * @returns {HTMLButtonElement}
 */
export function makeButton(name, text, act) {
  const button = make("button", name, text);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 * @returns {SVGElementTagNameMap[K]}
 */
export function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * @param {string} id
 * @returns {HTMLElement | null}
 */
export function byId(id) {
  return document.getElementById(id);
}

// Focus ---------------------------------------------------------------------------------------------------

/**
 * What the keyboard can reach within a part of the page.
 *
 * @param {Element} part
 */
function stopsIn(part) {
  const all = /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']"));
  return Array.from(all).filter(canBeReached);
}

/** @param {Element} stop */
function canBeReached(stop) {
  return stop.getClientRects().length > 0 && !stop.matches(":disabled, details:not([open]) > :not(summary) *");
}

/**
 * Change a part of the page and keep the focus that it has: on the same element, on the one that took its place, or else
 * on another one.
 *
 * @param {Element} part
 * @param {() => void} change
 * @param {HTMLElement} otherwise
 */
export function keepFocus(part, change, otherwise) {
  const held = document.activeElement;
  const at = held && part.contains(held) ? stopsIn(part).indexOf(/** @type {HTMLElement} */ (held)) : -1;
  change();
  if (!held || at < 0 || (held.isConnected && canBeReached(held))) return;
  const stops = stopsIn(part);
  (byId(held.id) || stops[Math.min(at, stops.length - 1)] || otherwise).focus({ preventScroll: true });
}

// Numbers -------------------------------------------------------------------------------------------------

/**
 * @param {any} value
 * @returns {string}
 */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  let text;
  if (Number.isInteger(value) && size < 1e15) text = value.toLocaleString("en-GB");
  else if (size !== 0 && (size < 1e-4 || size >= 1e7)) text = value.toExponential(3);
  else text = String(parseFloat(value.toPrecision(5)));
  return text.replace("-", "−");
}

/**
 * How many decimals the numbers of a column share; −1 where they differ too much for that.
 *
 * @param {any[]} values
 */
export function decimals(values) {
  const known = values.filter((value) => typeof value === "number");
  const sizes = known.map(Math.abs).filter((size) => size > 0);
  if (known.every(Number.isInteger)) return 0;
  const most = Math.max(...sizes);
  if (most >= 1e7 || most < 1e-2) return -1;
  return Math.max(0, Math.min(4, 5 - Math.ceil(Math.log10(most))));
}

/**
 * @param {any} value
 * @param {number} places
 */
export function inColumn(value, places) {
  if (typeof value !== "number" || places < 0) return number(value);
  if (value !== 0 && Math.abs(value) < 0.5 * Math.pow(10, -places)) return value.toExponential(1).replace(/-/g, "−");
  const options = { minimumFractionDigits: places, maximumFractionDigits: places };
  return value.toLocaleString("en-GB", options).replace("-", "−");
}

/** @param {any} p */
export function probability(p) {
  if (p === null || p === undefined) return "–";
  if (typeof p !== "number") return String(p);
  if (p === 0 || p === 1) return String(p);
  if (p > 0 && p < 0.00005) return "<0.0001";
  if (p >= 0.99995 && p < 1) return ">0.9999";
  return p.toFixed(4);
}

/** @param {number} p */
export function percent(p) {
  if (p <= 0) return "0 %";
  if (p >= 1 - 1e-12) return "100 %";
  if (p < 0.0005) return "<0.1 %";
  if (p > 0.9995) return ">99.9 %";
  return (100 * p).toFixed(1) + " %";
}

/** @param {number} value */
export function fixed(value) {
  const options = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return value.toLocaleString("en-GB", options).replace("-", "−");
}

/**
 * @param {number} value
 * @param {number} [places]
 */
export function nats(value, places = 3) {
  const least = "0." + "0".repeat(places - 1) + "1";
  if (value !== 0 && Math.abs(value) < 0.5 * Math.pow(10, -places)) return value < 0 ? ">−" + least : "<" + least;
  if (Math.abs(value) >= 1e6) return value.toExponential(2).replace("-", "−");
  return value.toFixed(places).replace("-", "−");
}

// Text that fits ------------------------------------------------------------------------------------------

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;
const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/**
 * @param {string} text
 * @param {string} font  Such as "600 13px".
 */
export function widthOf(text, font) {
  ruler = ruler || document.createElement("canvas").getContext("2d");
  if (!ruler) return 7 * text.length;
  ruler.font = font + " " + FAMILY;
  return ruler.measureText(text).width;
}

/**
 * Cut a text so that it takes no more than some pixels; control characters, and those that would turn the direction of
 * what follows or hide between letters, become visible.
 *
 * @param {string} text
 * @param {number} most
 * @param {string} font
 */
export function shorten(text, most, font) {
  const whole = text.replace(/[\u0000-\u001f\u007f\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g, "␣");
  if (widthOf(whole, font) <= most) return whole;
  const letters = Array.from(whole);
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(letters.slice(0, middle).join("") + "…", font) <= most) low = middle;
    else high = middle - 1;
  }
  return letters.slice(0, low).join("") + "…";
}

/**
 * Offer text or bytes as a file to save.
 *
 * @param {string} name
 * @param {Blob} blob
 */
export function save(name, blob) {
  const link = make("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
