/* Cells that must stay, and why: [row id, column id] or [row id, column id, reason]. */
export class Guard {
  #reasons = new Map();
  #rows = new Map();
  #columns = new Map();

  constructor(cells, table) {
    for (const [row, column, reason] of cells) {
      this.#reasons.set(`${row}\n${column}`, reason || "protected");
      const known = table.column_ids.includes(column) && (row === table.header_id || table.row_ids.includes(row));
      if (!known) continue; // what is not there protects nothing
      if (row !== table.header_id) keep(this.#rows, row, column);
      keep(this.#columns, column, row);
    }
  }

  /* Why a cell must keep its text, or null. */
  cell(row, column) {
    return this.#reasons.get(`${row}\n${column}`) ?? null;
  }

  /* [row id, column id, reason] of a cell for which the row must stay, or null. */
  row(row) {
    const column = this.#rows.get(row);
    return column === undefined ? null : [row, column, this.cell(row, column)];
  }

  column(column) {
    const row = this.#columns.get(column);
    return row === undefined ? null : [row, column, this.cell(row, column)];
  }

  /* The columns of a row that are protected. */
  get rows() {
    const rows = new Map();
    for (const key of this.#reasons.keys()) {
      const [row, column] = key.split("\n");
      if (!rows.has(row)) rows.set(row, new Set());
      rows.get(row).add(column);
    }
    return rows;
  }
}

function keep(map, key, value) {
  if (!map.has(key)) map.set(key, value);
}
