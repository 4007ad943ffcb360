/* Edit operations on a table whose rows and columns have ids: the browser's half of tableqa/operations.

   An operation is the JSON of the published form, e.g. {op: "set_cell", row, column, at, old, new}; tables are those of
   tables.js. Replaying never changes a table; rows that no operation touches are shared with the base, so `===` tells
   what was touched. Nothing here touches the page. */

import { equal, placesOf, withIds } from "./tables.js";

export { withIds };

export class OperationError extends Error {
  /** @param {string} code @param {string} message @param {number | null} index */
  constructor(code, message, index = null) {
    super(message);
    this.name = "OperationError";
    this.code = code;
    this.index = index;
  }
}

/* The table that `operations`, done in order, make of `table`. Throws OperationError where one does not fit. */
/** @param {Table} table @param {readonly Operation[]} operations @returns {WholeTable} */
export function replay(table, operations) {
  const sheet = new Sheet(withIds(table));
  operations.forEach((operation, index) => sheet.act(operation, index));
  return sheet.table();
}

/* The net operations, in a fixed order: what `operations` come to on `table` without what was done and undone. */
/** @param {readonly Operation[]} operations @param {Table} table @returns {Operation[]} */
export function normalise(operations, table) {
  /** @type {Operation[]} */
  let result = [];
  let begin = withIds(table);
  /** @type {string[]} */
  let created = [];
  const sheet = new Sheet(begin);
  operations.forEach((operation, index) => {
    const before = WHOLE.has(operation?.op) ? sheet.table() : null;
    sheet.act(operation, index);
    const telling = before && operation.op === "mask_cells" ? tellingMask(operation, before) : operation;
    if (before && telling) {
      result = [...result, ...difference(begin, before, created), telling];
      begin = sheet.table();
      created = [];
    } else if (operation.op === "insert_row") created.push(operation.row);
    else if (operation.op === "insert_column") created.push(operation.column);
  });
  return [...result, ...difference(begin, sheet.table(), created)];
}

/* The mask with only the cells that it changes, null where it changes none. */
/** @param {MaskCells} mask @param {WholeTable} before @returns {MaskCells | null} */
function tellingMask(mask, before) {
  const rows = new Map(before.row_ids.map((id, place) => [id, before.rows[place]]));
  const cells = mask.cells.filter(([row, column]) => rows.get(row)[before.column_ids.indexOf(column)] !== mask.with);
  return cells.length ? { ...mask, cells } : null;
}

const WHOLE = new Set(["split_column", "transpose", "mask_cells"]); // say more than the cells they change

// --- replaying ---------------------------------------------------------------------------------------------------

class Sheet {
  /** @param {WholeTable} table */
  constructor(table) {
    this.source = table;
    this.above = table.header_rows;
    this.header = table.header;
    this.headerId = table.header_id;
    this.columns = table.column_ids;
    this.order = new Order(table.row_ids);
    this.rows = new Rows(table);
  }

  table() {
    const order = equal(this.order.ids, this.source.row_ids) ? this.source.row_ids : this.order.ids;
    return {
      ...this.source,
      header: this.header,
      rows: this.rows.inOrder(order),
      header_rows: this.above,
      row_ids: order,
      column_ids: this.columns,
      header_id: this.headerId,
    };
  }

  /** @param {Operation} operation @param {number} index */
  act(operation, index) {
    const act = Object.hasOwn(ACTS, String(operation?.op)) ? ACTS[operation.op] : null;
    try {
      if (!act) throw new OperationError("bad_operation", `there is no operation ${operation?.op}`);
      act(this, /** @type {never} */ (operation));
    } catch (error) {
      if (error instanceof OperationError) throw new OperationError(error.code, `operation ${index + 1}: ${error.message}`, index);
      throw new OperationError("bad_operation", `operation ${index + 1}: it is not well formed`, index);
    }
  }

  /** @param {string} id */
  row(id) {
    if (id === this.headerId) throw new OperationError("bad_operation", `${id} is the header row; use rename_header for its names`);
    if (!this.rows.has(id)) throw new OperationError("unknown_row", `there is no row ${id}`);
    return this.rows.get(id);
  }

  /** @param {string} id */
  column(id) {
    const place = this.columns.indexOf(id);
    if (place < 0) throw new OperationError("unknown_column", `there is no column ${id}`);
    return place;
  }

  /** @param {string} id @param {number} place @param {string} text */
  write(id, place, text) {
    this.rows.set(id, this.rows.get(id).with(place, text));
  }

  /** @param {string} id */
  newRow(id) {
    const taken = this.rows.has(id) || id === this.headerId || this.above.some((_, index) => id === `h${index}`);
    if (taken) throw new OperationError("duplicate_id", `there is a row ${id} already`);
  }

  /** @param {string} id */
  newColumn(id) {
    if (this.columns.includes(id)) throw new OperationError("duplicate_id", `there is a column ${id} already`);
  }

  /** @param {string} id @param {string | null} after */
  putRow(id, after) {
    if (after !== null && !this.rows.has(after)) {
      throw new OperationError("unknown_row", `there is no row ${after} to put it after (null puts it on top)`);
    }
    this.order.insert(id, after);
  }

  /** @param {string} id */
  takeRow(id) {
    this.rows.delete(id);
    this.order.remove(id);
  }

  /** @param {number} place @param {string} id @param {readonly string[]} above @param {string} header @param {readonly string[]} cells */
  putColumn(place, id, above, header, cells) {
    this.columns = this.columns.toSpliced(place, 0, id);
    this.header = this.header.toSpliced(place, 0, header);
    this.above = this.above.map((line, index) => line.toSpliced(place, 0, above[index] ?? ""));
    this.order.ids.forEach((row, index) => this.rows.set(row, this.rows.get(row).toSpliced(place, 0, cells[index])));
  }

  /** @param {number} place */
  takeColumn(place) {
    this.columns = this.columns.toSpliced(place, 1);
    this.header = this.header.toSpliced(place, 1);
    this.above = this.above.map((line) => line.toSpliced(place, 1));
    for (const row of this.order.ids) this.rows.set(row, this.rows.get(row).toSpliced(place, 1));
  }

  /** @param {number} place */
  columnCells(place) {
    return this.order.ids.map((id) => this.rows.get(id)[place]);
  }
}

/* Ids in an order, as a linked list from the first change on: inserting and removing take the same time however many there
   are. `ids` is the list itself as long as nothing came or went. */
class Order {
  /** @type {readonly string[] | null} */
  #ids;
  /** @type {Links} */
  #next = new Map();
  /** @type {Links} */
  #previous = new Map();

  /** @param {readonly string[]} ids */
  constructor(ids) {
    this.#ids = ids;
  }

  get ids() {
    if (this.#ids) return this.#ids;
    const ids = [];
    for (let id = this.#next.get(null); id !== null; id = this.#next.get(id)) ids.push(id);
    return (this.#ids = ids);
  }

  /** @param {string} id @param {string | null} after */
  insert(id, after) {
    this.#link();
    const below = this.#next.get(after);
    this.#join(after, id);
    this.#join(id, below);
  }

  /** @param {string} id */
  remove(id) {
    this.#link();
    this.#join(this.#previous.get(id), this.#next.get(id));
  }

  /* What stands directly before an id, null before the first. */
  /** @param {string} id @returns {string | null} */
  before(id) {
    this.#link();
    return this.#previous.get(id);
  }

  #link() {
    const ids = this.#ids;
    if (ids && !this.#next.size) [null, ...ids].forEach((id, place) => this.#join(id, ids[place] ?? null));
    this.#ids = null;
  }

  /** @param {string | null} above @param {string | null} below */
  #join(above, below) {
    this.#next.set(above, below);
    this.#previous.set(below, above);
  }
}

/* The rows of a sheet by id: those of its table and, over them, what was written since (null: taken out). */
class Rows {
  /** @param {Pick<WholeTable, "row_ids" | "rows">} table */
  constructor(table) {
    this.table = table;
    this.places = placesOf(table.row_ids);
    /** @type {Map<string, readonly string[] | null>} */
    this.written = new Map();
    this.size = table.rows.length;
  }

  /** @param {string} id */
  has(id) {
    return this.written.has(id) ? this.written.get(id) !== null : this.places.has(id);
  }

  /** @param {string} id */
  get(id) {
    const written = this.written.get(id);
    return written ?? this.table.rows[written === null ? -1 : this.places.get(id)];
  }

  /** @param {string} id @param {readonly string[]} cells */
  set(id, cells) {
    if (!this.has(id)) this.size += 1;
    this.written.set(id, cells);
  }

  /** @param {string} id */
  delete(id) {
    this.written.set(id, null);
    this.size -= 1;
  }

  /* Rows that nothing was written to are those of the table, the very same. */
  /** @param {readonly string[]} ids */
  inOrder(ids) {
    if (ids !== this.table.row_ids) return ids.map((id) => this.get(id));
    if (!this.written.size) return this.table.rows;
    const rows = this.table.rows.slice();
    for (const [id, cells] of this.written) {
      if (cells !== null) rows[this.places.get(id)] = cells; // what came and went again has no place
    }
    return rows;
  }
}

/** @param {string} what @param {unknown} found @param {unknown} old */
function expect(what, found, old) {
  if (!equal(found, old)) {
    const made = `${what} contains ${JSON.stringify(found)}, but the operation expects ${JSON.stringify(old)}`;
    throw new OperationError("stale_base", `${made}; start again from this table`);
  }
}

/** @param {readonly unknown[]} values @param {number} number @param {string} what @param {string} of */
function expectNumber(values, number, what, of) {
  if (values.length !== number) throw new OperationError("bad_operation", `there are ${values.length} ${what} for ${number} ${of}`);
}

/** @type {{ [O in Operation as O["op"]]: (sheet: Sheet, operation: O) => void }} */
const ACTS = {
  set_cell(sheet, { row, column, old, new: text }) {
    const cells = sheet.row(row);
    const place = sheet.column(column);
    expect(`the cell ${row}/${column}`, cells[place], old);
    sheet.write(row, place, text);
  },
  remove_row(sheet, { row, old }) {
    expect(`the row ${row}`, sheet.row(row), old);
    sheet.takeRow(row);
  },
  insert_row(sheet, { row, after, cells }) {
    sheet.newRow(row);
    expectNumber(cells, sheet.columns.length, "cells", "columns");
    sheet.putRow(row, after);
    sheet.rows.set(row, cells);
  },
  move_row(sheet, { row, after }) {
    const cells = sheet.row(row);
    if (row === after) throw new OperationError("bad_operation", `the row ${row} cannot be put after itself`);
    sheet.takeRow(row);
    sheet.putRow(row, after);
    sheet.rows.set(row, cells);
  },
  rename_header(sheet, { column, old, new: name }) {
    const place = sheet.column(column);
    expect(`the header of ${column}`, sheet.header[place], old);
    sheet.header = sheet.header.with(place, name);
  },
  remove_column(sheet, { column, old }) {
    const place = sheet.column(column);
    expect(`the column ${column}`, [sheet.header[place], ...sheet.columnCells(place)], old);
    sheet.takeColumn(place);
  },
  insert_column(sheet, { column, after, header, cells, above = [] }) {
    sheet.newColumn(column);
    expectNumber(cells, sheet.rows.size, "cells", "rows");
    if (above.length) expectNumber(above, sheet.above.length, "texts above", "further header rows");
    sheet.putColumn(after === null ? 0 : sheet.column(after) + 1, column, above, header, cells);
  },
  move_column(sheet, { column, after }) {
    const place = sheet.column(column);
    const goal = after === null ? -1 : sheet.column(after);
    if (column === after) throw new OperationError("bad_operation", `the column ${column} cannot be put after itself`);
    /** @type {[id: string, above: string[], header: string, cells: string[]]} */
    const moved = [column, sheet.above.map((line) => line[place]), sheet.header[place], sheet.columnCells(place)];
    sheet.takeColumn(place);
    sheet.putColumn(after === null ? 0 : goal + (goal < place ? 1 : 0), ...moved);
  },
  split_column(sheet, { column, into }) {
    const place = sheet.column(column);
    const above = sheet.above.map((line) => line[place]);
    into.forEach((part) => expectNumber(part.cells, sheet.rows.size, "cells", "rows"));
    sheet.takeColumn(place);
    into.forEach((part, step) => {
      sheet.newColumn(part.column);
      sheet.putColumn(place + step, part.column, above, part.header, part.cells);
    });
  },
  transpose(sheet) {
    if (!sheet.columns.length) throw new OperationError("bad_operation", "a table without columns cannot be transposed");
    const lines = [...sheet.above, sheet.header, ...sheet.order.ids.map((id) => sheet.rows.get(id))];
    const turned = sheet.columns.map((_, place) => lines.map((line) => line[place]));
    const ids = [...sheet.above.map((_, index) => `h${index}`), sheet.headerId, ...sheet.order.ids];
    const [first, ...others] = sheet.columns;
    sheet.headerId = first;
    [sheet.header] = turned;
    sheet.above = [];
    sheet.columns = ids;
    sheet.order = new Order(others);
    sheet.rows = new Rows({ row_ids: others, rows: turned.slice(1) });
  },
  mask_cells(sheet, { cells, with: mask }) {
    cells.forEach(([row, column]) => [sheet.row(row), sheet.column(column)]);
    cells.forEach(([row, column]) => sheet.write(row, sheet.column(column), mask));
  },
};

// --- the net of a list -------------------------------------------------------------------------------------------

/* The operations between two tables that share their ids; new rows and columns in the order of `created`. */
/** @param {WholeTable} base @param {WholeTable} edited @param {readonly string[]} created @returns {Operation[]} */
function difference(base, edited, created) {
  const columns = shared(base.column_ids, edited.column_ids);
  const sameRows = base.row_ids === edited.row_ids;
  const places = placesOf(edited.row_ids);
  /** @param {string} row @param {number} at */
  const now = (row, at) => (sameRows ? edited.rows[at] : edited.rows[places.get(row) ?? -1]);
  /** @type {Operation[]} */
  const operations = [];
  /** @type {RemoveRow[]} */
  const removed = [];
  for (const [column, at, to] of columns) {
    if (base.header[at] !== edited.header[to]) {
      operations.push({ op: "rename_header", column, at, old: base.header[at], new: edited.header[to] });
    }
  }
  base.row_ids.forEach((row, at) => {
    const before = base.rows[at];
    const after = now(row, at);
    if (before === after) return;
    if (!after) {
      removed.push({ op: "remove_row", row, at, old: before });
      return;
    }
    for (const [column, from, to] of columns) {
      if (before[from] !== after[to]) {
        operations.push({ op: "set_cell", row, column, at: [at, from], old: before[from], new: after[to] });
      }
    }
  });
  for (const operation of removed) operations.push(operation);
  const left = () => (removed.length ? base.row_ids.flatMap((row, at) => (places.has(row) ? [at] : [])) : base.row_ids.map((_, at) => at));
  base.column_ids.forEach((column, at) => {
    if (edited.column_ids.includes(column)) return;
    operations.push({ op: "remove_column", column, at, old: [base.header[at], ...left().map((line) => base.rows[line][at])] });
  });
  const turnedColumns = changesOfOrder(base.column_ids, edited.column_ids, created);
  for (const [column, after] of turnedColumns.moves) operations.push({ op: "move_column", column, after });
  for (const [column, after] of turnedColumns.insertions) {
    const place = edited.column_ids.indexOf(column);
    const above = edited.header_rows.map((line) => line[place]);
    operations.push({
      op: "insert_column", column, after, header: edited.header[place],
      cells: left().map((line) => now(base.row_ids[line], line)[place]),
      ...(above.some(Boolean) ? { above } : {}),
    });
  }
  const turnedRows = changesOfOrder(base.row_ids, edited.row_ids, created);
  for (const [row, after] of turnedRows.moves) operations.push({ op: "move_row", row, after });
  const below = turnedRows.insertions.length ? placesBelow(base, edited) : new Map();
  for (const [row, after] of turnedRows.insertions) {
    operations.push({ op: "insert_row", row, after, at: below.get(row), cells: edited.rows[places.get(row)] });
  }
  return operations;
}

/* [id, place in one, place in the other] of what both lists hold, in the order of the first. */
/** @param {readonly string[]} ids @param {readonly string[]} others @returns {[id: string, place: number, other: number][]} */
function shared(ids, others) {
  const places = new Map(others.map((id, place) => [id, place]));
  return ids.flatMap((id, place) => (places.has(id) ? [[id, place, places.get(id)]] : []));
}

/* Where each new row would stand in the base: below the nearest row above it that the base has. */
/** @param {WholeTable} base @param {WholeTable} edited @returns {Places} */
function placesBelow(base, edited) {
  const known = placesOf(base.row_ids);
  const places = new Map();
  let below = 0;
  for (const row of edited.row_ids) {
    if (known.has(row)) below = known.get(row) + 1;
    else places.set(row, below);
  }
  return places;
}

/* The fewest moves, and the insertions, that turn `before`, less what is gone, into `after`: [[id, after], ...]. */
/** @param {readonly string[]} before @param {readonly string[]} after @param {readonly string[]} created @returns {{ moves: Moved[], insertions: Moved[] }} */
export function changesOfOrder(before, after, created) {
  if (before === after || equal(before, after)) return { moves: [], insertions: [] };
  const places = placesOf(before);
  const kept = after.filter((id) => places.has(id));
  const stay = longestRising(kept.map((id) => places.get(id)));
  /** @type {Moved[]} */
  const moves = kept.flatMap((id, index) => (stay.has(places.get(id)) ? [] : [[id, index ? kept[index - 1] : null]]));
  const turns = new Map(created.map((id, turn) => [id, turn]));
  /** @param {string} id */
  const turn = (id) => turns.get(id) ?? created.length;
  const fresh = after.filter((id) => !places.has(id)).sort((one, other) => turn(one) - turn(other));
  const order = new Order(after);
  const insertions = fresh.reverse().map((id) => { // taken out again last first, each one's neighbour is what it was put after
    const above = order.before(id);
    order.remove(id);
    return /** @type {Moved} */ ([id, above]);
  });
  return { moves, insertions: insertions.reverse() };
}

/** @param {readonly number[]} places @returns {Set<number>} */
function longestRising(places) {
  /** @type {number[]} */
  const tails = [];
  /** @type {number[]} */
  const ends = [];
  /** @type {number[]} */
  const previous = [];
  places.forEach((place, index) => {
    let length = 0;
    for (let end = tails.length; length < end;) { // the first tail that is not smaller
      const middle = (length + end) >> 1;
      if (tails[middle] < place) length = middle + 1;
      else end = middle;
    }
    previous.push(length ? ends[length - 1] : -1);
    tails[length] = place;
    ends[length] = index;
  });
  const rising = new Set();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index]) rising.add(places[index]);
  return rising;
}
