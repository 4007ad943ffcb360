/* The dialog in which a person chooses between two versions of a response: the tables merged into one (comparison.js), the
   other fields in words, in two columns. */

import { same } from "./draft.js";
import { element } from "./elements.js";
import { t } from "./language.js";
import { describe } from "./words.js";

const MAX_LISTED = 20; // entries of one field (changes, marked cells) that are listed one by one
const IN_TABLE = ["operations", "cells"]; // kinds of fields that the merged table shows
const LETTERS = ["A", "B"]; // of this page's version and the other one

/* Resolves to "mine" or "other". Both are data of a response ({name: value}), `savedAt` is the time in words;
   `fields` are the elements with data-field, `grid` is the table's element or null. */
/** @param {{ fields: Field[], grid: GridElement, mine: ResponseData, other: ResponseData, savedAt: string }} versions @returns {Promise<"mine" | "other">} */
export function chooseVersion({ fields, grid, mine, other, savedAt }) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const title = element("h2", { id: "versions-title", textContent: t("Two versions of your work"), tabIndex: -1, autofocus: true });
  const names = [t("On this page"), t("In the other window")];
  const heads = names.map((textContent) => element("th", { scope: "col", textContent }));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)));
  for (const field of fields) {
    const [here, there] = [mine, other].map((data) => inWords(field, data[field.dataset.field], grid));
    if (!here.length && !there.length) continue;
    table.append(comparison(field, here, there, same(mine[field.dataset.field], other[field.dataset.field])));
  }
  const keepMine = element("button", { type: "button", className: "primary", textContent: t("Keep this version") });
  const keepOther = element("button", { type: "button", textContent: t("Keep the other version") });
  table.append(element("tfoot", {}, row(keepMine, keepOther)));
  const explanation = element("p", { textContent: t`You also changed this item in another window. That version was saved at ${savedAt}. Which one do you want to keep?` });
  const dialog = element("dialog", { className: "versions" }, title, explanation, table);
  dialog.setAttribute("aria-labelledby", "versions-title");
  document.body.append(dialog);
  dialog.showModal(); // focus on the title: a key that was meant for the table chooses nothing
  if (table.querySelector(IN_TABLE.map((kind) => `[data-kind=${kind}]`).join())) {
    showTable(dialog, table, grid.base, [mine, other].map((data, at) => versionOf(fields, data, LETTERS[at], names[at])));
  }
  return new Promise((resolve) => {
    /** @param {"mine" | "other"} version */
    const choose = (version) => {
      dialog.remove();
      if (before?.isConnected) before.focus({ preventScroll: true });
      resolve(version);
    };
    keepMine.addEventListener("click", () => choose("mine"));
    keepOther.addEventListener("click", () => choose("other"));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => dialog.isConnected && dialog.showModal()); // a second Esc closes it in Chromium
  });
}

/* Show both tables as one, in place of their changes in words. Where its module does not come, the words stay. */
/** @param {HTMLElement} dialog @param {HTMLElement} fields @param {Table} table @param {Variant[]} variants */
async function showTable(dialog, fields, table, variants) {
  try {
    await import("./comparison.js");
  } catch {
    return;
  }
  if (!dialog.isConnected) return;
  for (const group of fields.querySelectorAll(IN_TABLE.map((kind) => `tbody[data-kind=${kind}]`).join())) group.remove();
  fields.querySelectorAll("thead th").forEach((head, at) => {
    head.prepend(element("b", { className: "who", textContent: LETTERS[at] }), " ");
  });
  const merged = element("askew-comparison");
  fields.before(merged);
  merged.compare({ table, variants });
  dialog.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    const key = event.key.toLowerCase();
    if (key === "n") merged.next(event.shiftKey ? -1 : 1);
    else if (key === "v") merged.turn();
  });
}

/* What a version makes of the table, for comparison.js. */
/** @param {readonly Field[]} fields @param {ResponseData} data @param {string} letter @param {string} name @returns {Variant} */
function versionOf(fields, data, letter, name) {
  /** @param {string} kind */
  const value = (kind) => /** @type {any[]} */ (data[fields.find((field) => field.dataset.kind === kind)?.dataset.field ?? ""] ?? []);
  return { letter, name, operations: value("operations"), cells: value("cells") };
}

/* One field as a group of rows: its name, then both versions. Entries that only one version has come first, marked. */
/** @param {Field} field @param {readonly string[]} here @param {readonly string[]} there @param {boolean} equal */
function comparison(field, here, there, equal) {
  const state = element("span", { className: "state", textContent: equal ? t("the same") : t("different"), dataset: equal ? {} : { kind: "look" } });
  const name = element("th", { scope: "rowgroup", colSpan: 2 }, `${field.dataset.label ?? field.dataset.field} `, state);
  return element("tbody", { dataset: { kind: field.dataset.kind } }, element("tr", {}, name), row(list(here, there), list(there, here)));
}

/** @param {readonly string[]} entries @param {readonly string[]} others */
function list(entries, others) {
  if (!entries.length) return element("span", { className: "soft", textContent: t("Nothing entered") });
  const known = new Set(others);
  const sorted = [...entries.filter((text) => !known.has(text)), ...entries.filter((text) => known.has(text))];
  const items = sorted.slice(0, MAX_LISTED).map((text) => element("li", { className: known.has(text) ? "" : "only", textContent: text, dir: "auto" }));
  if (sorted.length > MAX_LISTED) items.push(element("li", { className: "soft", textContent: t`and ${sorted.length - MAX_LISTED} more` }));
  return element("ul", {}, ...items);
}

/** @param {...Node} parts */
const row = (...parts) => element("tr", {}, ...parts.map((part) => element("td", {}, part)));

/* What a field holds, as a list of texts; an empty one where nothing was entered. */
/** @param {Field} field @param {any} value @param {GridElement} grid @returns {string[]} */
function inWords(field, value, grid) {
  if (value === undefined || value === null || value === "" || value === false || (Array.isArray(value) && !value.length)) return [];
  switch (field.dataset.kind) {
    case "operations": return value.map((/** @type {Operation} */ operation) => describe(operation, grid.base));
    case "cells": return value.map((/** @type {Pair} */ [rowId, column]) => `${grid.placeInWords(rowId, column)}: ${grid.edits.text(rowId, column)}`);
    case "choice": return [labelOf(field, value)];
    case "choices": return value.map((/** @type {string} */ one) => labelOf(field, one));
    case "flag": return [t("ticked")];
    case "json": return field.inWords?.(value) ?? [JSON.stringify(value)];
    default: return [value].flat().map(String);
  }
}

/** @param {Field} field @param {unknown} value */
function labelOf(field, value) {
  const option = field.querySelector(`option[value="${CSS.escape(String(value))}"]`);
  if (option) return option.textContent;
  const input = [...field.querySelectorAll("input")].find((one) => one.value === String(value));
  return input?.closest("label")?.querySelector("[data-name], span")?.firstChild?.textContent ?? String(value);
}
