/* An edit in the making: the base table, the net operations on it, and what people want done as operations.

   Nothing here touches the page, and nothing changes the base. Every method that begins with `with` answers a new list
   of net operations; `become` takes one over. */

import { check, oddlyWritten } from "./contract.js";
import { OperationError, normalise, replay } from "./operations.js";
import { Shown, take } from "./shown.js";
import { placesOf } from "./tables.js";

export class Edits extends Shown {
  /* Take over a list of net operations. */
  /** @param {readonly Operation[]} operations */
  become(operations) {
    this.operations = operations;
    this.shows(replay(this.base, operations));
  }

  /* Take over operations as they were stored; false, and none at all, where they do not fit the table. */
  /** @param {readonly Operation[]} operations */
  begin(operations) {
    try {
      this.become(normalise(operations, this.base));
      return true;
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      this.become([]);
      return false;
    }
  }

  /** @param {readonly Operation[]} operations */
  with(operations) {
    return normalise([...this.operations, ...operations], this.base);
  }

  /* New texts of cells and headers: [{row, column, text}]. Cells that are removed are left alone. */
  /** @param {readonly { row: string, column: string, text: string }[]} texts */
  withTexts(texts) {
    /** @type {Operation[]} */
    const operations = texts.flatMap(({ row, column, text }) => {
      const old = this.text(row, column);
      if (old === null) return [];
      const written = withLineEnds(old, text);
      return /** @type {Operation[]} */ (row === this.base.header_id
        ? [{ op: "rename_header", column, old, new: written }]
        : [{ op: "set_cell", row, column, old, new: written }]);
    });
    return this.with(operations);
  }

  /* Without these rows and these columns. */
  /** @param {readonly string[]} rows @param {readonly string[]} columns */
  without(rows, columns) {
    return this.with([...removals(this.edited, rows), ...columnRemovals(this.edited, rows, columns)]);
  }

  /* Removed rows and columns of the base are put back where they stood, with the texts that they had: nothing of the
     removal is left in the list. What was removed before a column was split or cells were masked comes back as if it had
     never been gone; in the parts of a split its cells are empty. */
  /** @param {readonly string[]} rows @param {readonly string[]} columns */
  withBack(rows, columns) {
    const whole = this.operations.some(({ op }) => op === "split_column" || op === "mask_cells");
    if (whole) {
      try {
        return normalise(neverRemoved(this.base, this.operations, new Set(rows), new Set(columns)), this.base);
      } catch (error) {
        if (!(error instanceof OperationError)) throw error; // it depends on the removal: then it is put in anew
      }
    }
    return this.#insertedAgain(rows, columns);
  }

  /** @param {readonly string[]} rows @param {readonly string[]} columns */
  #insertedAgain(rows, columns) {
    const { base, edited } = this;
    const places = placesOf(base.row_ids);
    const backColumns = this.#returning(this.state.columns, columns, (column, after) => {
      const at = base.column_ids.indexOf(column);
      const above = base.header_rows.map((line) => line[at]);
      const cells = edited.row_ids.map((id) => (places.has(id) ? base.rows[places.get(id)][at] : ""));
      return { op: "insert_column", column, after, header: base.header[at], cells, ...(above.some(Boolean) ? { above } : {}) };
    });
    const wider = replay(edited, backColumns);
    const at = wider.column_ids.map((id) => base.column_ids.indexOf(id));
    return this.with([...backColumns, ...this.#returning(this.state.rows, rows, (row, after) => {
      const old = base.rows[places.get(row)];
      return { op: "insert_row", row, after, cells: at.map((place) => (place < 0 ? "" : old[place])) };
    })]);
  }

  /* `make(id, the one it comes after)` for each of `ids` that is removed, in the order in which they stand. */
  /** @param {readonly { id: string, removed: boolean }[]} all @param {readonly string[]} ids @param {(id: string, after: string | null) => Operation} make */
  #returning(all, ids, make) {
    const wanted = new Set(ids);
    /** @type {Operation[]} */
    const made = [];
    /** @type {string | null} */
    let after = null;
    for (const { id, removed } of all) {
      if (removed && !wanted.has(id)) continue;
      if (removed) made.push(make(id, after));
      after = id;
    }
    return made;
  }

  /* A new row of empty cells below the row `after` (null: on top): [its id, the operations]. */
  /** @param {string | null} after @returns {[id: string, operations: Operation[]]} */
  withNewRow(after) {
    const [row] = this.freshIds(1);
    const cells = Array(this.edited.header.length).fill("");
    return [row, this.with([{ op: "insert_row", row, after, cells }])];
  }

  /* Ids that no row and no column has: n1, n2, ... */
  /** @param {number} number */
  freshIds(number) {
    const made = this.operations.flatMap((operation) => {
      if (operation.op === "insert_row") return [operation.row];
      if (operation.op === "insert_column") return [operation.column];
      return operation.op === "split_column" ? operation.into.map((part) => part.column) : [];
    });
    const taken = [...made, ...this.base.row_ids, ...this.base.column_ids].map((id) => Number(/^n([0-9]+)$/.exec(id)?.[1] ?? 0));
    const last = taken.reduce((most, one) => Math.max(most, one), 0);
    return Array.from({ length: number }, (_, index) => `n${last + 1 + index}`);
  }

  /* Without the change at `index`, whatever came after it; null where a later change depends on it. */
  /** @param {number} index */
  withTakenBack(index) {
    const operation = this.operations[index];
    if (operation.op === "remove_row") return this.withBack([operation.row], []);
    if (operation.op === "remove_column" && this.base.column_ids.includes(operation.column)) {
      return this.withBack([], [operation.column]);
    }
    if (operation.op === "insert_row") return this.without([operation.row], []);
    if (operation.op === "insert_column") return this.without([], [operation.column]);
    try {
      return normalise(this.operations.toSpliced(index, 1), this.base);
    } catch (error) {
      if (error instanceof OperationError) return null;
      throw error;
    }
  }

  /* What `contract` does not allow of these operations: contract.js. */
  /** @param {Contract} contract @param {readonly Operation[]} operations @param {string} [reason] */
  violations(contract, operations, reason) {
    return check(contract, this.base, operations, reason);
  }

  /* row id -> column id -> what its text should be written like: the new texts that are not. */
  odd() {
    const found = new Map();
    for (const { row, column, like } of oddlyWritten(this.base, this.edited, this.operations)) {
      if (!found.has(row)) found.set(row, new Map());
      found.get(row).set(column, like);
    }
    return found;
  }
}

/* A text field turns every line end into \n: the text with the line ends of `old` around and, where no line came or went,
   in what was typed. New lines end as all lines of `old` do. */
/** @param {string} old @param {string} text */
function withLineEnds(old, text) {
  if (!old.includes("\r") || text.includes("\r")) return text;
  const parts = old.match(/\r\n|./gsu) ?? []; // one for each character of the field
  const before = parts.map((part) => (/^\r/.test(part) ? "\n" : part));
  const now = [...text];
  let head = 0;
  while (head < before.length && before[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(before.length, now.length) - head && before.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  /** @param {string[]} list */
  const lines = (list) => list.filter((part) => /^[\r\n]/.test(part));
  const ends = lines(parts.slice(head, parts.length - tail));
  const typed = now.slice(head, now.length - tail);
  const usual = new Set(lines(parts)).size === 1 ? lines(parts)[0] : "\n";
  const isSame = lines(typed).length === ends.length;
  const middle = typed.map((part) => (part === "\n" ? (isSame ? ends.shift() : usual) : part));
  const written = [...parts.slice(0, head), ...middle, ...parts.slice(parts.length - tail)].join("");
  return written.replace(/\r\n?/g, "\n") === text ? written : text; // a \r before a \n would take a line
}

/* The operations as they would be, had these rows and columns never been removed. Throws OperationError where others
   depend on their absence. */
/** @param {WholeTable} base @param {readonly Operation[]} operations @param {ReadonlySet<string>} rows @param {ReadonlySet<string>} columns */
function neverRemoved(base, operations, rows, columns) {
  /** @type {Operation[]} */
  const made = [];
  /** @type {Away} */
  const away = { rows: new Set(), columns: new Set() }; // gone at that time, as the operations were made
  let table = base;
  for (const operation of operations) {
    if (operation.op === "remove_row" && rows.has(operation.row)) {
      away.rows.add(operation.row);
      continue;
    }
    if (operation.op === "remove_column" && columns.has(operation.column)) {
      away.columns.add(operation.column);
      continue;
    }
    const whole = amongMore(operation, table, away);
    table = replay(table, [whole]);
    made.push(whole);
  }
  return made;
}

/* An operation that was made when these rows and columns were away, for the table that has them: it knows as much of
   them as it has to, and new rows, columns and parts are empty there. */
/** @param {Operation} operation @param {WholeTable} table @param {Away} away @returns {Operation} */
function amongMore(operation, table, away) {
  /** @param {readonly string[]} cells */
  const down = (cells) => spread(cells, table.row_ids, away.rows);
  /** @param {readonly string[]} cells */
  const across = (cells) => spread(cells, table.column_ids, away.columns);
  switch (operation.op) {
    case "remove_row": return { ...operation, old: table.rows[placesOf(table.row_ids).get(operation.row)] };
    case "remove_column": return columnRemovals(table, [], [operation.column])[0] ?? operation;
    case "insert_row": return { ...operation, cells: across(operation.cells) };
    case "insert_column": return { ...operation, cells: down(operation.cells) };
    case "split_column": return { ...operation, into: operation.into.map((part) => ({ ...part, cells: down(part.cells) })) };
    case "transpose": throw new OperationError("bad_operation", "rows are columns from here on");
    default: return operation;
  }
}

/* Texts for the ids that are not away, with an empty one at the place of each that is. */
/** @param {readonly string[]} texts @param {readonly string[]} ids @param {ReadonlySet<string>} away */
function spread(texts, ids, away) {
  if (!ids.some((id) => away.has(id))) return texts;
  const left = texts.values();
  return ids.map((id) => (away.has(id) ? "" : left.next().value ?? ""));
}

/** @param {WholeTable} table @param {readonly string[]} gone @returns {RemoveRow[]} */
function removals({ row_ids: ids, rows }, gone) {
  const places = placesOf(ids);
  return gone.filter((id) => places.has(id)).map((row) => ({ op: "remove_row", row, old: rows[places.get(row)] }));
}

/* Columns are removed after the rows `gone`: they hold what is left of them then, and nothing of one another. */
/** @param {WholeTable} table @param {readonly string[]} gone @param {readonly string[]} columns @returns {RemoveColumn[]} */
function columnRemovals(table, gone, columns) {
  const out = new Set(gone);
  const left = table.rows.filter((_, place) => !out.has(table.row_ids[place]));
  return columns.filter((id) => table.column_ids.includes(id)).map((column) => {
    const place = table.column_ids.indexOf(column);
    return { op: "remove_column", column, old: [table.header[place], ...left.map((cells) => cells[place])] };
  });
}

take(Edits);
