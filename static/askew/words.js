/* Operations in words, the same words as tableqa/operations/descriptions.py writes. Rows are counted from 1 as on the page; a
   column is called by its header, or by its number where the header is empty or stands over several columns. */

import { counted, t, within } from "./language.js";
import { placesOf, withIds } from "./tables.js";

const LONGEST = 60; // characters of a text that are shown
const BLANK = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"; // as Python has it
const BLANKS = new RegExp(`${BLANK}+`, "g");
const ENDS = new RegExp(`^${BLANK}+|${BLANK}+$`, "g");
const BESIDE_A_SIGN = /(?<![\p{L}\p{N}_]) +| +(?![\p{L}\p{N}_])/gu; // Python's \w
const RIGHT_TO_LEFT = /[\u0590-\u05ff\u0600-\u065f\u066a-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** @param {string} text */
export const strip = (text) => text.replace(ENDS, "");

/** @param {Operation} operation @param {Table} given @returns {string} */
export function describe(operation, given) {
  const table = withIds(given);
  const rows = placesOf(table.row_ids);
  /** @param {string} id */
  const row = (id) => (rows.has(id) ? t`Row ${rows.get(id) + 1}` : t`Row ${id}`);
  /** @param {string | null} id */
  const below = (id) => (id === null ? t("on top") : t`below ${within(row(id))}`);
  /** @param {string} id */
  const place = (id) => t`column ${table.column_ids.includes(id) ? table.column_ids.indexOf(id) + 1 : id}`;
  /** @param {string} id */
  const numbered = (id) => {
    const name = table.header[table.column_ids.indexOf(id)] ?? "";
    return strip(name) ? `${place(id)} (${shown(name)})` : place(id);
  };
  /** @param {string | null} id */
  const beside = (id) => (id === null ? t("in front") : t`after ${numbered(id)}`);
  switch (operation.op) {
    case "set_cell": return `${row(operation.row)}, ${columnName(table, operation.column)}: ${change(operation.old, operation.new)}`;
    case "rename_header": return t`Header of ${place(operation.column)}: ${change(operation.old, operation.new)}`;
    case "remove_row": return t`${row(operation.row)} removed: ${list(operation.old)}`;
    case "insert_row": return t`New row ${below(operation.after)}: ${list(operation.cells)}`;
    case "move_row": return t`${row(operation.row)} moved ${below(operation.after)}`;
    case "remove_column": return t`${capital(numbered(operation.column))} removed: ${list(operation.old.slice(1))}`;
    case "insert_column": return t`New column ${beside(operation.after)}: ${list([operation.header, ...operation.cells])}`;
    case "move_column": return t`${capital(numbered(operation.column))} moved ${beside(operation.after)}`;
    case "split_column": return t`${capital(numbered(operation.column))} split into ${list(operation.into.map((part) => part.header))}`;
    case "mask_cells": return t`${count(operation.cells.length, "cell")} replaced by ${shown(operation.with)}`;
    case "transpose": return t("Rows and columns exchanged");
    default: return t`Unknown operation (${/** @type {Operation} */ (operation).op})`;
  }
}

/* What to call a column by its id. */
/** @param {Table} given @param {string} id */
export function columnName(given, id) {
  const table = withIds(given);
  const place = table.column_ids.indexOf(id);
  if (place < 0) return t`column ${id}`;
  const name = table.header[place];
  const unique = strip(name) && table.header.indexOf(name) === table.header.lastIndexOf(name);
  return unique ? shown(name) : t`column ${place + 1}`;
}

/* How many there are of a thing; `./run messages` finds the calls and writes both forms down. */
/** @param {number} number @param {string} what */
export const count = (number, what) => counted(number, `{0} ${what}`, `{0} ${what}s`);

/** @param {string} old @param {string} now */
function change(old, now) {
  const note = visible(old) === visible(now) ? t(" (only whitespace or invisible characters differ)") : "";
  return t`${shown(old)} becomes ${shown(now)}${note}`;
}

/* Without anything invisible, and with blanks only where they part words or digits: tableqa.cells.visible. */
/** @param {string} text */
export const visible = (text) => strip(text.replace(BLANKS, " ").replace(/[\p{Cf}\p{Cc}]/gu, "").replace(/ +/g, " ")).replace(BESIDE_A_SIGN, "");

/** @param {readonly string[]} texts */
function list(texts) {
  if (!texts.length) return t("(empty)");
  const first = texts.slice(0, 6).map(shown).join(" | ");
  return texts.length > 6 ? `${first} | …` : first;
}

/** @param {string} text */
function shown(text) {
  if (!text) return t("(empty)");
  if (!strip(text)) return t("(whitespace)");
  let line = strip(text.replace(BLANKS, " "));
  const characters = [...line];
  if (characters.length > LONGEST) line = `${characters.slice(0, LONGEST - 1).join("")}…`;
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}

/** @param {string} text */
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
