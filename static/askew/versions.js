/* The dialog in which a person chooses between two versions of a response: the tables merged into one (comparison.js), the
   other fields in words, in two columns. */

import { t } from "./language.js";
import { same } from "./draft.js";
import { describe } from "./words.js";

const MAX_LISTED = 20; // entries of one field (changes, marked cells) that are listed one by one
const IN_TABLE = ["operations", "cells"]; // kinds of fields that the merged table shows
const LETTERS = ["A", "B"]; // of this page's version and the other one

/* Resolves to "mine" or "other". Both are data of a response ({name: value}), `savedAt` is the time in words;
   `fields` are the elements with data-field, `grid` is the table's element or null. */
/** @param {{ fields: Field[], grid: GridElement, mine: ResponseData, other: ResponseData, savedAt: string }} versions @returns {Promise<"mine" | "other">} */
export function chooseVersion({ fields, grid, mine, other, savedAt }) {
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const dialog = make("dialog", { className: "versions" });
  dialog.setAttribute("aria-labelledby", "versions-title");
  const title = make("h2", { id: "versions-title", textContent: t("Two versions of your work"), tabIndex: -1, autofocus: true });
  const table = make("table");
  const heads = make("tr");
  const names = [t("On this page"), t("In the other window")];
  heads.append(...names.map((textContent) => make("th", { scope: "col", textContent })));
  table.appendChild(make("thead")).append(heads);
  for (const field of fields) {
    const [here, there] = [mine, other].map((data) => inWords(field, data[field.dataset.field], grid));
    if (!here.length && !there.length) continue;
    const group = comparison(field, here, there, same(mine[field.dataset.field], other[field.dataset.field]));
    group.dataset.kind = field.dataset.kind;
    table.append(group);
  }
  const keepMine = make("button", { type: "button", className: "primary", textContent: t("Keep this version") });
  const keepOther = make("button", { type: "button", textContent: t("Keep the other version") });
  table.appendChild(make("tfoot")).append(row(keepMine, keepOther));
  const explanation = make("p", { textContent: t`You also changed this item in another window. That version was saved at ${savedAt}. Which one do you want to keep?` });
  dialog.append(title, explanation, table);
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
    head.prepend(make("b", { className: "who", textContent: LETTERS[at] }), " ");
  });
  const element = make("askew-comparison");
  fields.before(element);
  element.compare({ table, variants });
  dialog.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    const key = event.key.toLowerCase();
    if (key === "n") element.next(event.shiftKey ? -1 : 1);
    else if (key === "v") element.turn();
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
  const name = make("th", { scope: "rowgroup", colSpan: 2, textContent: `${field.dataset.label ?? field.dataset.field} ` });
  const state = make("span", { className: "state", textContent: equal ? t("the same") : t("different") });
  if (!equal) state.dataset.kind = "look";
  name.append(state);
  const head = make("tr");
  head.append(name);
  const body = make("tbody");
  body.append(head, row(list(here, there), list(there, here)));
  return body;
}

/** @param {readonly string[]} entries @param {readonly string[]} others */
function list(entries, others) {
  if (!entries.length) return make("span", { className: "soft", textContent: t("Nothing entered") });
  const known = new Set(others);
  const sorted = [...entries.filter((text) => !known.has(text)), ...entries.filter((text) => known.has(text))];
  const items = sorted.slice(0, MAX_LISTED).map((text) => make("li", { className: known.has(text) ? "" : "only", textContent: text, dir: "auto" }));
  if (sorted.length > MAX_LISTED) items.push(make("li", { className: "soft", textContent: t`and ${sorted.length - MAX_LISTED} more` }));
  const place = make("ul");
  place.append(...items);
  return place;
}

/** @param {...Node} parts */
function row(...parts) {
  const tr = make("tr");
  tr.append(...parts.map((part) => {
    const td = make("td");
    td.append(part);
    return td;
  }));
  return tr;
}

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

/** @type {Make} */
const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);
