// The graph as a picture, and the case as data.

import { save } from "./dom.js";

const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "font-family", "font-size", "font-weight", "text-anchor", "opacity", "display"];

/**
 * The graph as an SVG file of its own, with the look that it has on the page.
 *
 * @param {SVGSVGElement} svg
 * @param {import("./types.js").Layout} layout
 */
function standalone(svg, layout) {
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const from = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, place) => {
    const style = getComputedStyle(from[place]);
    for (const name of KEPT) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
    const tip = style.getPropertyValue("marker-end");
    if (tip && tip !== "none") element.setAttribute("marker-end", tip.replace(/url\("?.*#([\w-]+)"?\)/, "url(#$1)"));
    element.removeAttribute("tabindex");
  });
  const view = copy.querySelector("#view");
  if (view) view.removeAttribute("transform");
  copy.querySelectorAll(".hit").forEach((element) => element.remove());
  const size = { width: layout.width + 24, height: layout.height + 24 };
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `-12 -12 ${size.width} ${size.height}`);
  copy.setAttribute("width", String(size.width));
  copy.setAttribute("height", String(size.height));
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["x", "-12"], ["y", "-12"], ["width", size.width], ["height", size.height]]) back.setAttribute(String(name), String(value));
  back.setAttribute("fill", getComputedStyle(svg).getPropertyValue("--card").trim() || "#fff");
  copy.insertBefore(back, copy.firstChild);
  return { text: new XMLSerializer().serializeToString(copy), ...size };
}

/**
 * @param {SVGSVGElement} svg
 * @param {import("./types.js").Layout} layout
 * @param {string} name
 */
export function saveSvg(svg, layout, name) {
  save(name + ".svg", new Blob([standalone(svg, layout).text], { type: "image/svg+xml" }));
}

/**
 * @param {SVGSVGElement} svg
 * @param {import("./types.js").Layout} layout
 * @param {string} name
 * @returns {Promise<void>}
 */
export async function savePng(svg, layout, name) {
  const picture = standalone(svg, layout);
  const image = new Image();
  const bytes = new TextEncoder().encode(picture.text);
  let binary = "";
  for (let k = 0; k < bytes.length; k += 8192) binary += String.fromCharCode(...bytes.subarray(k, k + 8192));
  image.src = "data:image/svg+xml;base64," + btoa(binary);
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.min(2, 8000 / Math.max(picture.width, picture.height));
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  const pen = canvas.getContext("2d");
  if (pen) pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  await new Promise((done) => canvas.toBlob((blob) => {
    if (blob) save(name + ".png", blob);
    done(undefined);
  }));
}

/**
 * @param {any} value
 * @param {string} name
 */
export function saveJson(value, name) {
  save(name + ".json", new Blob([JSON.stringify(value, null, 1) + "\n"], { type: "application/json" }));
}
