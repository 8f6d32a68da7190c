// Rows of the data as evidence, one after another; for pages that are served.

import { make, makeButton } from "./dom.js";
import { describe, emptyQuestion, findingOf, withdraw } from "./evidence.js";

/** @typedef {import("./types.js").Entry} Entry */
/** @typedef {import("./types.js").Question} Question */

const MOST_NAMED = 6; // missing values of a row

/**
 * Name the first few of some nodes.
 *
 * @param {Entry[]} entries
 * @param {number[]} places
 */
function named(entries, places) {
  const more = places.length > MOST_NAMED ? ` and ${places.length - MOST_NAMED} more` : "";
  return places.slice(0, MOST_NAMED).map((place) => entries[place].n).join(", ") + more;
}

/**
 * Show what steps through the rows of the data and asks with each of them as evidence.
 *
 * @param {HTMLElement} body
 * @param {import("./served_engine.js").Served} engine
 * @param {Entry[]} entries
 * @param {number} total  How many rows there are.
 * @param {() => number[]} pinned  The targets, which are left to be predicted.
 * @param {(question: Question) => void} ask
 * @param {(text: string) => void} warn
 */
export function showDataRows(body, engine, entries, total, pinned, ask, warn) {
  const at = make("input");
  at.type = "number";
  at.min = "1";
  at.max = String(total);
  at.setAttribute("aria-label", "Row of the data");
  const remark = make("p", "quiet");
  remark.setAttribute("role", "status");

  /** @param {number} number */
  const take = async (number) => {
    const wanted = Math.min(total, Math.max(1, Math.round(number) || 1));
    at.value = String(wanted);
    try {
      const some = await engine.rows(wanted - 1, 1);
      const found = some.rows[0];
      const row = { ...emptyQuestion(), hard: found.hard, values: found.values };
      const held = pinned().filter((place) => findingOf(row, place)).map((place) => describe(row, place, entries));
      remark.textContent = [
        held.length ? `Row ${wanted} says: ${held.join(", ")}.` : "",
        found.missing ? `Row ${wanted} has no value of ${named(entries, found.missing)}.` : "",
        found.unknown ? `Row ${wanted}: the value of ${named(entries, found.unknown)} is no state of the model, and is left out.` : "",
        ...some.notes,
      ].filter(Boolean).join(" ");
      ask(pinned().reduce(withdraw, row));
    } catch (error) {
      warn(error instanceof Error ? error.message : String(error));
    }
  };
  at.addEventListener("change", () => take(Number(at.value)));
  const line = make("div", "stepper");
  const one = makeButton("", "◀", () => take(Number(at.value) - 1));
  const other = makeButton("", "▶", () => take(Number(at.value) + 1));
  one.setAttribute("aria-label", "Row before");
  other.setAttribute("aria-label", "Next row");
  line.append(one, at, other, make("span", "quiet", "of " + total.toLocaleString("en-GB")));
  body.append(line, make("p", "quiet", "The values of a row become the evidence; pinned targets are left to be predicted."), remark);
}
