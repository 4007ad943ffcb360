/* Whether an edit keeps its contract, as far as the table alone tells: the browser's half of tableqa/perturbations/contracts.py, run
   on the same vectors (tests/vectors/contracts.json). Answers are for the server. Same codes, same order. */

import { counted, t } from "./language.js";
import { modelFor, sameFormat } from "./cells.js";
import { OperationError, normalise, replay } from "./operations.js";
import { equal, placesOf, withIds } from "./tables.js";
import { columnName, count, describe, strip, visible } from "./words.js";

const SHAPE_CHANGING = ["remove_row", "insert_row", "remove_column", "insert_column", "split_column", "transpose"];

/* [{code, message, level}]: what `contract` does not allow of `operations` on `table`. */
/** @param {Contract} contract @param {Table} table @param {readonly Operation[]} operations @returns {Violation[]} */
export function check(contract, table, operations, reason = "") {
  const base = withIds(table);
  let edited;
  let net;
  try {
    edited = replay(base, operations);
    net = normalise(operations, base);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    return [violation(error.code, `${error.message}.`)];
  }
  const violations = [];
  const unchanged = contract.table === "differs" && looksTheSame(base, edited);
  if (unchanged) {
    const same = equal(edited.header, base.header) && equal(edited.rows, base.rows);
    violations.push(violation("table_unchanged", same
      ? t("The table is unchanged. Change something.")
      : t("Only whitespace or invisible characters have changed. Change a visible value.")));
  }
  if (cells(base) && !cells(edited) && contract.table !== "gone") {
    violations.push(violation("table_empty", t`The table now has ${shape(edited)}. Restore at least one row and one column.`));
  }
  /** @param {Violation[]} found */
  const add = (found) => found.forEach((each) => violations.push(each)); // as arguments they would be too many
  if (contract.allowed) add(allowed(contract.allowed, base, edited, net));
  const limit = contract.at_most ?? null;
  if (limit !== null && net.length > limit && !(contract.more_with_reason && strip(reason))) {
    const way = contract.more_with_reason ? t(" Undo some, or say why more are needed.") : "";
    violations.push(violation("too_many_operations", `${counted(net.length, "There is {0} change;", "There are {0} changes;")} ${counted(limit, "at most {0} change is allowed.", "at most {0} are allowed.")}${way}`));
  }
  for (const [row, column] of contract.protected ?? []) add(protectedCell(base, edited, row, column));
  const format = contract.cell_format ?? "warn";
  if (format !== "ignore") add(formats(base, edited, net, format === "require" ? "error" : "warning"));
  if (!unchanged) add(blanks(base, net));
  return violations;
}

/* Whether header and rows are equal but for blanks and invisible characters. */
/** @param {WholeTable} base @param {WholeTable} edited */
function looksTheSame(base, edited) {
  /** @param {readonly string[]} one @param {readonly string[]} other */
  const alike = (one, other) => one.length === other.length && one.every((text, at) => text === other[at] || visible(text) === visible(other[at]));
  return base.rows.length === edited.rows.length && alike(base.header, edited.header) && base.rows.every((line, at) => alike(line, edited.rows[at]));
}

/* Texts that changed in blanks or invisible characters alone, which nobody can see and hardly anybody meant. */
/** @param {WholeTable} base @param {readonly Operation[]} net */
function blanks(base, net) {
  return net
    .filter((operation) => (operation.op === "set_cell" || operation.op === "rename_header") && visible(operation.old) === visible(operation.new))
    .map((operation) => violation("blanks_changed", t`${describe(operation, base)}. Restore the old text.`, "warning"));
}

/** @param {string} code @param {string} message @param {Violation["level"]} level @returns {Violation} */
const violation = (code, message, level = "error") => ({ code, message, level });

/** @param {readonly string[]} names @param {WholeTable} base @param {WholeTable} edited @param {readonly Operation[]} net */
function allowed(names, base, edited, net) {
  const violations = Object.keys(SPOKEN)
    .filter((name) => !names.includes(name) && net.some(({ op }) => op === name))
    .map((name) => violation("operation_not_allowed", t`${SPOKEN[name]} is not allowed here.`));
  const before = shape(base);
  const after = shape(edited);
  if (before !== after && !SHAPE_CHANGING.some((name) => names.includes(name))) {
    violations.push(violation("shape_changed", t`The table had ${before} and now has ${after}. Its shape must not change.`));
  }
  return violations;
}

/** @param {WholeTable} table */
const cells = ({ rows, header }) => rows.length * header.length;
/** @param {WholeTable} table */
const shape = ({ rows, header }) => t`${count(rows.length, "row")} and ${count(header.length, "column")}`;

/** @type {Record<string, string>} */
const SPOKEN = {
  set_cell: t("Changing a cell"),
  remove_row: t("Removing a row"),
  insert_row: t("Adding a row"),
  move_row: t("Moving a row"),
  rename_header: t("Renaming a column"),
  remove_column: t("Removing a column"),
  insert_column: t("Adding a column"),
  move_column: t("Moving a column"),
  split_column: t("Splitting a column"),
  transpose: t("Transposing the table"),
  mask_cells: t("Masking cells"),
};

/** @param {WholeTable} base @param {WholeTable} edited @param {string} row @param {string} column */
function protectedCell(base, edited, row, column) {
  const before = cell(base, row, column);
  const after = cell(edited, row, column);
  if (before === null || before === after) return [];
  const what = after === null ? t("has been removed") : t("has been changed");
  return [violation("protected_cell", t`The protected cell (${cellPlace(base, row, column)}) ${what}. Undo that change.`)];
}

/* Where a cell is, in words. */
/** @param {WholeTable} table @param {string} row @param {string} column */
function cellPlace(table, row, column) {
  const at = table.column_ids.indexOf(column);
  if (row === table.header_id) return t`header of column ${at < 0 ? column : at + 1}`;
  const line = placesOf(table.row_ids).get(row);
  return t`row ${line === undefined ? row : line + 1}, ${columnName(table, column)}`;
}

/* The text of a cell; after a transposition the same cell stands at (column, row). */
/** @param {WholeTable} table @param {string} row @param {string} column */
function cell(table, row, column) {
  for (const [first, second] of [[row, column], [column, row]]) {
    const place = placesOf(table.column_ids).get(second);
    if (place === undefined) continue;
    if (first === table.header_id) return table.header[place];
    const line = placesOf(table.row_ids).get(first);
    if (line !== undefined) return table.rows[line][place];
  }
  return null;
}

/** @param {WholeTable} base @param {WholeTable} edited @param {readonly Operation[]} net @param {Violation["level"]} level */
function formats(base, edited, net, level) {
  return oddlyWritten(base, edited, net).map(({ row, column, text, like }) => {
    const where = t`Row ${placesOf(edited.row_ids).get(row) + 1}, ${columnName(edited, column)}`;
    return violation("cell_format", t`${where}: ${quoted(text)} has a different format from ${like}.`, level);
  });
}

/* [{row, column, text, like}]: the new texts that are not written as their columns are, and what they are held against. */
/** @param {WholeTable} base @param {WholeTable} edited @param {readonly Operation[]} net */
export function oddlyWritten(base, edited, net) {
  if (base.header_id !== edited.header_id) return []; // transposed: columns are rows, and no column has a format
  const columns = edited.column_ids.filter((id) => base.column_ids.includes(id));
  const places = net.some(({ op }) => op === "set_cell" || op === "insert_row") ? placesOf(edited.row_ids) : new Map();
  /** @type {OddText[]} */
  const odd = [];
  /** @param {string} row @param {string} column @param {string | null} old @param {string} text */
  const look = (row, column, old, text) => {
    const like = unlike(base, column, old, text);
    if (like !== null) odd.push({ row, column, text, like });
  };
  for (const operation of net) {
    if (!("row" in operation && places.has(operation.row))) continue;
    if (operation.op === "set_cell" && columns.includes(operation.column)) {
      look(operation.row, operation.column, operation.old, operation.new);
    } else if (operation.op === "insert_row") {
      const line = edited.rows[places.get(operation.row)];
      for (const column of columns) look(operation.row, column, null, line[edited.column_ids.indexOf(column)]);
    }
  }
  return odd;
}

/* What `text` should be written like in this column of `base`, in words, or null where it is. */
/** @param {WholeTable} base @param {string} column @param {string | null} old @param {string} text */
export function unlike(base, column, old, text) {
  const others = columnOf(base.rows, base.column_ids.indexOf(column));
  if (sameFormat(old, text, others)) return null;
  const model = modelFor(old, text, others);
  return model === null ? t("the other cells in its column") : quoted(model);
}

/* The cells of a column, the same list every time: what is known of it is kept by the list. */
/** @param {WholeTable["rows"]} rows @param {number} place */
function columnOf(rows, place) {
  if (!columns.has(rows)) columns.set(rows, new Map());
  const known = columns.get(rows);
  if (!known.has(place)) known.set(place, rows.map((line) => line[place]));
  return known.get(place);
}

const columns = new WeakMap();

/** @param {string} text */
function quoted(text) {
  if (!strip(text)) return text ? t("(whitespace)") : t("(empty)");
  const characters = [...text];
  const short = characters.length <= 60 ? text : `${characters.slice(0, 59).join("")}…`;
  return `“${short}”`;
}
