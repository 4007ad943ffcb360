/* Which cells: a set of marked cells, and the rectangles that people draw with keys and pointer. No page here. */

/* A set of cells that is never changed: each change makes another, which shares the rows that it did not touch. */
export class Cells {
  /** @type {CellRows} */
  #rows;

  /** @param {CellRows} rows */
  constructor(rows = new Map()) {
    this.#rows = rows;
  }

  /** @param {readonly (readonly string[])[]} pairs */
  static of(pairs) {
    /** @type {Map<string, Set<string>>} */
    const rows = new Map();
    for (const [row, column] of pairs) {
      if (!rows.has(row)) rows.set(row, new Set());
      rows.get(row).add(column);
    }
    return new Cells(rows);
  }

  get size() {
    let size = 0;
    for (const columns of this.#rows.values()) size += columns.size;
    return size;
  }

  get rows() {
    return this.#rows;
  }

  /** @param {string} row @param {string} column */
  has(row, column) {
    return this.#rows.get(row)?.has(column) ?? false;
  }

  /* Whether all of these rows' cells in these columns are in it. */
  /** @param {readonly string[]} rows @param {readonly string[]} columns */
  hasAll(rows, columns) {
    return rows.every((row) => columns.every((column) => this.has(row, column)));
  }

  /* With (or without) the cells in which these rows and columns meet. */
  /** @param {readonly string[]} rows @param {readonly string[]} columns */
  with(rows, columns, on = true) {
    const changed = new Map(this.#rows);
    for (const row of rows) {
      const cells = new Set(changed.get(row));
      for (const column of columns) {
        if (on) cells.add(column);
        else cells.delete(column);
      }
      if (cells.size) changed.set(row, cells);
      else changed.delete(row);
    }
    return new Cells(changed);
  }

  /* [[row id, column id], ...] as they stand in a table: `rowPlaces` id -> place; cells of other rows are left out. */
  /** @param {Places} rowPlaces @param {readonly string[]} columnIds @returns {Pair[]} */
  pairs(rowPlaces, columnIds) {
    const rows = [...this.#rows.keys()].filter((row) => rowPlaces.has(row));
    rows.sort((one, other) => rowPlaces.get(one) - rowPlaces.get(other));
    return rows.flatMap((row) => {
      const cells = this.#rows.get(row);
      return columnIds.filter((column) => cells.has(column)).map((column) => /** @type {const} */ ([row, column]));
    });
  }

  /* The rows that are not the same in both. */
  /** @param {Cells} one @param {Cells} other */
  static between(one, other) {
    const rows = new Set();
    for (const [row, cells] of one.rows) if (other.rows.get(row) !== cells) rows.add(row);
    for (const [row, cells] of other.rows) if (one.rows.get(row) !== cells) rows.add(row);
    return rows;
  }
}

/* The rectangle between two places, both {row, column} in numbers; row -1 is the header.
   span "rows" takes in every column, "columns" every row of the body and the header. */
/** @param {Spot} one @param {Spot} other @param {SpanKind} span @param {number} height @param {number} width @param {boolean} head @returns {Area} */
export function rectangle(one, other, span, height, width, head) {
  const [top, bottom] = [one.row, other.row].sort(ascending);
  const [left, right] = [one.column, other.column].sort(ascending);
  if (span === "rows") return { top: Math.max(0, top), bottom, left: 0, right: width - 1 };
  if (span === "columns") return { top: head ? -1 : 0, bottom: height - 1, left, right };
  return { top, bottom, left, right };
}

/* Numbers in rising order as runs without gaps: [1, 2, 3, 7] is [[1, 3], [7, 7]]. */
/** @param {readonly number[]} numbers */
export function runs(numbers) {
  /** @type {[from: number, to: number][]} */
  const found = [];
  for (const number of numbers) {
    if (found.length && found.at(-1)[1] === number - 1) found.at(-1)[1] = number;
    else found.push([number, number]);
  }
  return found;
}

/** @param {number} from @param {number} to */
export const span = (from, to) => Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);

/** @param {number} one @param {number} other */
const ascending = (one, other) => one - other;

/** @param {ReadonlySet<string> | ReadonlyMap<string, unknown> | undefined} one @param {ReadonlySet<string> | ReadonlyMap<string, unknown> | undefined} other */
export const equalSets = (one, other) => one === other || (one?.size === other?.size && [.../** @type {Iterable<string>} */ (one) ?? []].every((id) => other?.has(id)));
