/* What stands in a cell or header: its text, what it replaces, notes and buttons. */

import { element } from "./elements.js";
import { icon } from "./icons.js";
import { t } from "./language.js";

export const TALL = 5; // lines that every cell has, as in askew.css
export const LONG = 220; // characters; longer cells are clipped to the lines that the table has room for

/* The part of the flags that changes what stands in a cell, not only how it looks. */
/** @param {string} flag */
export const content = (flag) => (flag ? ["withheld", "evidence"].filter((name) => ` ${flag} `.includes(` ${name} `)).join() : "");

/** @param {HTMLElement} td @param {string} text @param {string | Versions | undefined} old @param {string} flag */
export function fill(td, text, old, flag) {
  const kept = content(flag);
  if (kept.includes("withheld")) return td.replaceChildren(element("span", { className: "withheld", textContent: t("hidden") }));
  if (old !== undefined) td.replaceChildren(...clipped(versions(old, text), td.role === "gridcell"));
  else if (isLong(text)) td.replaceChildren(...clipped([element("span", { textContent: text })], td.role === "gridcell"));
  else td.textContent = text;
  if (kept.includes("evidence")) td.prepend(element("span", { className: "sr", textContent: t("marked: ") }));
}

/** @param {HTMLElement[]} parts @param {boolean} inGrid */
function clipped(parts, inGrid) {
  const long = parts.filter(({ textContent }) => isLong(textContent));
  for (const part of long) part.classList.add("long");
  return long.length ? [...parts, wholeButton(inGrid)] : parts;
}

/** @param {string} text */
export const isLong = (text) => text.length > LONG || lines(text) > TALL;

/* Opens the whole text of a cell to be read (reading-pane.js). In a grid a key does the same, so it takes no stop there. */
/** @param {boolean} inGrid */
export function wholeButton(inGrid) {
  const words = t("Read the whole text");
  const title = inGrid ? `${words} (Alt ↓)` : words;
  return element("button", { type: "button", className: "whole", tabIndex: inGrid ? -1 : 0, ariaLabel: words, title, dataset: { readWhole: "" } }, /** @type {Node} */ (icon("read")));
}

/** @param {string} text */
function was(text) {
  return element("del", {}, element("span", { className: "sr", textContent: t("was ") }), text === "" ? t("(empty)") : text);
}

/** @param {string} text */
const now = (text) => element("ins", text === "" ? { className: "emptied", textContent: t("empty") } : { textContent: text });

/* The old text above the new one; of several variants ({was, now: [{text, by, all}]}) the new text of each. */
/** @param {string | Versions} old @param {string} text */
export function versions(old, text) {
  if (typeof old === "string") return [was(old), now(text)];
  const parts = old.now.map((version) => {
    const ins = now(version.text);
    ins.classList.add("of");
    ins.prepend(who(version, t("by ")), " ");
    return ins;
  });
  return old.was === null ? parts : [was(old.was), ...parts];
}

/* The letters of variants, as a sign. */
/** @param {Owners} owners @param {string} words */
export function who({ by, all }, words) {
  return element("b", { className: all ? "who all" : "who" }, element("span", { className: "sr", textContent: words }), by);
}

/** @param {readonly LineNote[] | undefined} several @param {string} single */
export function notes(several, single) {
  if (!several) return single ? [element("small", { textContent: single })] : [];
  return several.map(({ what, by, all }) => element("small", {}, `${what} `, who({ by, all }, "")));
}

/* A button in the header of a row or column that removes it or puts it back. Keys reach the header, which does the same, so
   the button takes no stop of its own; and the header is called by its name alone. */
/** @param {HTMLElement} th @param {"row" | "column"} what @param {string} name @param {boolean} removed */
export function offerRemoval(th, what, name, removed) {
  const rows = what === "row";
  const words = removed
    ? (rows ? t`Restore row ${name}` : t`Restore column ${name}`)
    : (rows ? t`Remove row ${name}` : t`Remove column ${name}`);
  const sign = /** @type {Node} */ (icon(removed ? "restore" : "close"));
  th.prepend(element("button", { type: "button", className: removed ? "cut back" : "cut", tabIndex: -1, ariaLabel: words, title: words, dataset: { remove: what } }, sign));
  th.classList.add("removable");
  th.querySelector("small")?.classList.add("sr");
  th.ariaLabel = removed ? t`${name}, removed` : name;
}

/** @param {string} text */
const lines = (text) => text.split("\n").length;

/* What lies over a cell may reach beyond its group of rows, as long as it is there. */
/** @param {Element} cell @param {boolean} on */
export function reachOut(cell, on) {
  for (const part of [cell, cell.closest("tbody")]) part?.toggleAttribute("data-open", on);
}
