/* The mode in which a table is cut down to some of its rows and columns. */

import { Changing, named } from "./changing.js";
import { t } from "./language.js";
import { MODES, columnWords, sentence } from "./modes.js";
import { count } from "./words.js";

export class Structuring extends Changing {
  /** @param {GridElement} grid */
  constructor(grid) {
    super(grid);
    const [rows, columns] = [grid.may("remove_row"), grid.may("remove_column")];
    /** @type {"rows" | "columns" | null} */
    this.only = rows === columns ? null : rows ? "rows" : "columns"; // what alone may be removed, "rows" or "columns"; null for both
    this.removing = { rows, columns };
    this.label = { rows: t("Table, rows can be removed"), columns: t("Table, columns can be removed"), both: t("Table, rows and columns can be removed") }[this.only ?? "both"];
    const keys = {
      rows: t("X removes the row, Space chooses it,"),
      columns: t("X removes the column, Space chooses it,"),
      both: t("X removes the row, in the header the column. Shift Space and Ctrl Space choose rows and columns,"),
    }[this.only ?? "both"];
    this.help = t`${keys} K keeps only what is chosen. Escape leaves the table.`;
  }

  tools() {
    return [
      ...this.steps,
      { name: "remove", label: () => this.#removeWords(), keys: "X", act: () => this.removeChosen(), off: () => this.only === "rows" && !this.#goal().rows.length },
      { name: "keep", label: t("Keep only these"), keys: "K", act: () => this.keepChosen() },
      { name: "restore", label: t("Undo all"), act: () => this.putAllBack(), off: () => !this.#anythingRemoved() },
    ];
  }

  /** @param {string} key @param {boolean} control @param {KeyPress} event @returns {(() => void) | null} */
  key(key, control, event) {
    const { grid } = this;
    const removes = key === "Delete" || key === "Backspace";
    if (event.altKey && removes && !control) {
      return event.shiftKey
        ? () => this.remove([], grid.idsIn(grid.area()).columns)
        : () => this.remove(grid.idsIn(grid.area()).rows, []);
    }
    if (key === " " && control) return () => this.choose("columns");
    if (key === " ") return () => this.choose(event.shiftKey ? "rows" : this.only ?? (grid.here.row === grid.edits.base.header_id ? "columns" : "rows"));
    if (control && key === "a") return () => grid.selectAll();
    if (control || event.altKey) return null;
    if (removes || key === "x") return () => this.removeChosen();
    if (key === "k") return () => this.keepChosen();
    return null;
  }

  /** @param {Pressed} place @param {PressedHow} how */
  pressed({ row, column }, { extend, dragging }) {
    if (dragging || extend || row === null) return;
    if (column === null) this.choose("rows");
    else if (row === this.grid.edits.base.header_id) this.choose("columns");
  }

  /** @param {Pressed} start */
  dragged(start) {
    const { grid } = this;
    if (start.column === null) this.choose("rows");
    else if (start.row === grid.edits.base.header_id) this.choose("columns");
  }

  /* Choose the rows or columns of the range, or take the choice back. Choices stay until Esc or until they are used. */
  /** @param {"rows" | "columns"} what */
  choose(what) {
    const { grid } = this;
    if (this.only && what !== this.only) return grid.say((what === "rows" ? t("Rows cannot be removed here.") : t("Columns cannot be removed here.")), { shown: true });
    const { rows, columns } = grid.idsIn(grid.area(what));
    const chosen = grid.chosen[what];
    const ids = what === "rows" ? rows.filter((id) => id !== grid.edits.base.header_id) : columns;
    if (!ids.length) return;
    const on = !ids.every((id) => chosen.has(id));
    for (const id of ids) {
      if (on) chosen.add(id);
      else chosen.delete(id);
    }
    const names = ids.map((id) => (what === "rows" ? grid.edits.rowName(id) : columnWords(grid, id)));
    grid.dropRange();
    grid.say(`${sentence(named(names, what.slice(0, -1)))} ${on ? t("chosen") : t("no longer chosen")}. ${this.#chosenWords()}`);
    grid.refreshTools();
  }

  /* A button in a header acts for itself: it is no press on the header. */
  /** @param {Element} target */
  writesIn(target) {
    return Boolean(target.closest?.("[data-remove]"));
  }

  /* Remove the row or column of a header, or put it back, whatever else is chosen. */
  /** @param {{ row: string, column: string | null }} place */
  removeAt({ row, column }) {
    const { grid } = this;
    const rows = column === null ? [row] : [];
    const columns = column === null ? [] : [column];
    for (const id of rows) grid.chosen.rows.delete(id);
    for (const id of columns) grid.chosen.columns.delete(id);
    grid.stand({ row, column: column ?? grid.here?.column ?? grid.columnIds()[0] });
    this.remove(rows, columns);
    grid.refreshRange();
  }

  removeChosen() {
    const { rows, columns } = this.#goal();
    this.#done(() => this.remove(rows, columns));
  }

  /* Keep the chosen rows and columns, or those of the range, and what is protected; remove everything else. */
  keepChosen() {
    const { grid } = this;
    const { chosen } = grid;
    const some = chosen.rows.size || chosen.columns.size;
    const range = grid.idsIn(grid.area());
    const rows = new Set(some ? chosen.rows : this.only === "columns" ? [] : range.rows.filter((id) => id !== grid.edits.base.header_id));
    const columns = new Set(some ? chosen.columns : this.only === "rows" ? [] : range.columns);
    if (!rows.size && !columns.size) return;
    const { state } = grid.edits;
    /** @param {readonly { id: string, removed: boolean }[]} all @param {ReadonlySet<string>} kept */
    const out = (all, kept) => (kept.size ? all.filter(({ id, removed }) => !kept.has(id) && !removed) : []);
    const [goingRows, goingColumns] = [out(state.rows, rows), out(state.columns, columns)];
    if ((goingRows.length && !grid.may("remove_row")) || (goingColumns.length && !grid.may("remove_column"))) {
      grid.say(goingRows.length && !grid.may("remove_row") ? t("Rows cannot be removed here.") : t("Columns cannot be removed here."), { shown: true });
      return;
    }
    const kept = [rows.size && count(rows.size, "row"), columns.size && count(columns.size, "column")].filter(Boolean).join(t(" and "));
    this.#done(() => this.removeAllowed(goingRows, goingColumns, t`${sentence(kept)} kept, the others removed.`));
  }

  putAllBack() {
    const { state } = this.grid.edits;
    this.#done(() => this.putBack(state.rows.filter(({ removed }) => removed), state.columns.filter(({ removed }) => removed)));
  }

  /** @param {() => void} act */
  #done(act) {
    this.grid.dropRange();
    this.grid.chosen.rows.clear();
    this.grid.chosen.columns.clear();
    act();
    this.grid.refreshRange();
  }

  #goal() {
    const { grid } = this;
    const { chosen } = grid;
    if (chosen.rows.size || chosen.columns.size) return { rows: [...chosen.rows], columns: [...chosen.columns] };
    const area = grid.area();
    if (!area) return { rows: [], columns: [] };
    const { rows, columns } = grid.idsIn(area);
    const across = area.top < 0 || this.only === "columns";
    return across ? { rows: [], columns } : { rows, columns: [] };
  }

  #removeWords() {
    const { grid } = this;
    const goal = this.#goal();
    const { rows, columns } = this.only === "rows" ? { ...goal, columns: [] } : goal;
    const removed = rows.every((id) => grid.isRemoved(id)) && columns.every((id) => grid.isColumnRemoved(id));
    if (rows.length && columns.length) return removed ? t("Restore") : t("Remove");
    return this.removalWords(columns.length ? "column" : "row", columns.length ? columns : rows, removed);
  }

  #anythingRemoved() {
    const { rows, columns } = this.grid.edits.state;
    return rows.some(({ removed }) => removed) || columns.some(({ removed }) => removed);
  }

  #chosenWords() {
    const { rows, columns } = this.grid.chosen;
    const words = [rows.size && count(rows.size, "row"), columns.size && count(columns.size, "column")].filter(Boolean).join(t(" and "));
    return words ? t`${words} chosen.` : "";
  }

  where() {
    const { grid } = this;
    const { rows, columns } = grid.edits.state;
    const [rowsLeft, columnsLeft] = [rows, columns].map((all) => all.filter(({ removed }) => !removed).length);
    const left = t`${count(rowsLeft, "row")}, ${count(columnsLeft, "column")} kept`;
    return [this.#chosenWords(), left].filter(Boolean).join(" · "); // the current cell is outlined: naming it would cut the rest
  }
}

MODES.structure = Structuring;
