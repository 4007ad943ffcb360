/* What keys and pointer do in each of the grid's modes. A mode works on the grid that it is made for: it reads where
   people are (`here`, `area()`) and what the table holds (`edits`, `cells`), and changes it by `change` and `mark`. */

import { counted, t, within } from "./language.js";
import { unlike } from "./contract.js";
import { put, take } from "./clipboard.js";
import { Editor } from "./editor.js";
import { span } from "./selection.js";
import { count, describe } from "./words.js";

class Mode {
  isGrid = false; // an ARIA grid with a current cell, or a table to read
  hasHead = false; // whether keys reach the header
  headsStand = false; // whether headers and rows' numbers are reached too, and stand for their columns and rows
  writes = false; // whether texts are changed
  label = t("Table");
  help = "";

  constructor(grid) {
    this.grid = grid;
  }

  tools() {
    return [];
  }

  /* What a key does in a cell: a function, or null. */
  key() {
    return null;
  }

  /* A cell, row number (column null) or header was pressed; `again` if it was the current cell already. */
  pressed() {}

  dragged() {}

  doubled() {}

  where() {
    return this.grid.hereInWords();
  }

  copy(data) {
    put(data, this.grid.areaTexts());
  }
}

// --- reading -------------------------------------------------------------------------------------------------------

export class Reading extends Mode {
  #at = -1;

  tools() {
    const { grid } = this;
    if (!grid.evidence.size) return [];
    return [{ name: "next", label: t("Next marked cell"), act: () => this.next() }];
  }

  next() {
    const { grid } = this;
    const head = grid.edits.base.header_id;
    const pairs = grid.evidence.pairs(new Map([[head, -1], ...grid.edits.rowPlaces]), grid.columnIds());
    if (!pairs.length) return;
    this.#at = (this.#at + 1) % pairs.length;
    const [row, column] = pairs[this.#at];
    grid.point({ row, column });
    const text = grid.marksHidden ? t("hidden") : grid.edits.text(row, column);
    grid.say(t`${grid.placeInWords(row, column)}: ${text}. Marked cell ${this.#at + 1} of ${pairs.length}.`);
  }

  where() {
    const { grid } = this;
    return grid.evidence.size ? `${count(grid.evidence.size, "marked cell")}${grid.marksHidden ? t(", hidden") : ""}` : "";
  }
}

export class Comparing extends Mode {
  #at = -1;
  label = t("Table with its changes");

  constructor(grid) {
    super(grid);
    this.changes = changesIn(grid.edits, grid.turned);
  }

  /* Where to look first: {row, column}, or null. */
  get first() {
    return this.changes[0] ?? null;
  }

  tools() {
    if (!this.changes.length) return [];
    return [
      { name: "previous", label: t("Previous change"), keys: "Shift N", act: () => this.next(-1) },
      { name: "next", label: t("Next change"), keys: "N", act: () => this.next(1) },
    ];
  }

  next(by) {
    const { grid, changes } = this;
    if (!changes.length) {
      grid.say(t("Nothing is changed."), { shown: true });
      return;
    }
    this.#at = this.#at < 0 && by < 0 ? changes.length - 1 : (this.#at + by + changes.length) % changes.length;
    const { row, column, words } = changes[this.#at];
    grid.point({ row, column });
    grid.say(t`Change ${this.#at + 1} of ${changes.length}. ${words}`);
    grid.refreshTools();
  }

  where() {
    const number = this.changes.length;
    const words = this.#at < 0 ? (number ? count(number, "change") : t("No change")) : t`Change ${this.#at + 1} of ${number}`;
    return this.grid.turned ? t`Rows and columns exchanged. ${words}` : words;
  }
}

/* Where each operation shows, in the order of the table: [{row, column, words}]. */
function changesIn(edits, turned) {
  const { base, operations, state } = edits;
  const [firstColumn] = state.columns;
  if (!firstColumn) return [];
  const places = operations.map((operation) => {
    const words = describe(operation, base);
    const row = operation.row ?? base.header_id;
    if (operation.op === "mask_cells") {
      const [first] = operation.cells;
      return first ? { row: first[0], column: first[1], words } : null;
    }
    const column = operation.op === "split_column" ? operation.into[0].column : operation.column ?? firstColumn.id;
    return edits.columnPlaces.has(column) ? { row, column, words } : null;
  });
  const rank = ({ row, column }) => [row === base.header_id ? -1 : edits.rowPlaces.get(row) ?? -1, edits.columnPlaces.get(column)];
  return places.filter(Boolean).sort((one, other) => {
    const [a, b] = [rank(one), rank(other)];
    return a[0] - b[0] || a[1] - b[1];
  });
}

// --- marking cells -------------------------------------------------------------------------------------------------

export class Selecting extends Mode {
  isGrid = true;
  hasHead = true;
  headsStand = true;
  label = t("Table, cells can be marked");
  help = t("Space marks the cell, on a header its column, on the number of a row the row. Shift with the arrow keys selects several cells, Space marks them. Escape leaves the table.");

  tools() {
    const { grid } = this;
    return [
      { name: "mark", label: t("Mark"), keys: "Space", act: () => this.toggle() },
      { name: "undo", label: t("Undo"), keys: "Ctrl Z", act: () => grid.undo(), off: () => !grid.history.canUndo },
      { name: "redo", label: t("Redo"), keys: "Ctrl Y", act: () => grid.redo(), off: () => !grid.history.canRedo },
    ];
  }

  key(key, control, event) {
    const { grid } = this;
    if (key === " ") return event.shiftKey ? () => this.toggle("rows") : control ? () => this.toggle("columns") : () => this.toggle();
    if (control && key === "a") return () => this.toggle("all");
    if (key === "Enter" && !control && grid.standsFor) return () => this.toggle();
    if (key === "Delete" || key === "Backspace") return () => this.#set(grid.area(), false);
    return null;
  }

  pressed({ row, column }, { dragging }) {
    if (dragging) return; // the release decides: a click or a rectangle
    if (row === null) this.toggle("all");
    else if (column === null) this.toggle("rows");
    else if (row === this.grid.edits.base.header_id) this.toggle("columns");
    else this.toggle();
  }

  /* A rectangle was drawn: it becomes what its first cell becomes. */
  dragged(start) {
    const { grid } = this;
    const first = start.row === grid.edits.base.header_id ? grid.rowId(0) : start.row;
    const on = !grid.marked.has(first, start.column ?? grid.columnIds()[0]);
    this.#set(grid.area(), on);
    grid.dropRange();
  }

  toggle(what = "cells") {
    const { grid } = this;
    const area = grid.area(what === "all" ? "all" : what);
    const { rows, columns } = grid.idsIn(area);
    if (!rows.length) return;
    this.#set(area, !grid.marked.hasAll(rows, columns));
    grid.dropRange();
  }

  #set(area, on) {
    const { grid } = this;
    const { rows, columns } = grid.idsIn(area);
    const cells = grid.marked.with(rows, columns, on);
    const number = rows.length * columns.length;
    const what = number === 1 ? grid.placeInWords(rows[0], columns[0]) : grid.standsFor ? grid.hereInWords() : count(number, "cell");
    grid.mark(cells, `${what}, ${on ? t("marked") : t("no longer marked")}.`);
  }

  where() {
    const { grid } = this;
    return [grid.hereInWords(), t`${count(grid.marked.size, "cell")} marked`].filter(Boolean).join(" · ");
  }
}

// --- changing cells, rows and columns ------------------------------------------------------------------------------

/* What editing and structure share: rows and columns come and go. */
class Changing extends Mode {
  isGrid = true;
  hasHead = true;

  /* Remove these rows and columns, or put them back where all of them are removed. */
  remove(rows, columns) {
    const { grid } = this;
    const { state } = grid.edits;
    const rowsHere = rows.map((id) => state.rows[grid.edits.rowPlaces.get(id)]).filter(Boolean);
    const columnsHere = columns.map((id) => state.columns[grid.edits.columnPlaces.get(id)]).filter(Boolean);
    const parts = [...rowsHere, ...columnsHere];
    if (!parts.length) return;
    if (parts.every(({ removed }) => removed)) {
      this.putBack(rowsHere, columnsHere);
      return;
    }
    const forbidden = [rowsHere.length && !grid.may("remove_row") && t("Rows"), columnsHere.length && !grid.may("remove_column") && t("Columns")].filter(Boolean);
    if (forbidden.length) {
      grid.say(t`${forbidden.join(t(" and "))} are not removed here.`, { shown: true });
      return;
    }
    this.removeAllowed(rowsHere.filter(({ removed }) => !removed), columnsHere.filter(({ removed }) => !removed));
  }

  removeAllowed(rows, columns, kept = "") {
    const { grid } = this;
    const guard = grid.guard;
    const stay = [...rows.map(({ id }) => guard.row(id)), ...columns.map(({ id }) => guard.column(id))];
    const going = rows.filter(({ id }) => !guard.row(id));
    const leaving = columns.filter(({ id }) => !guard.column(id));
    const reasons = stay.filter(Boolean).length ? this.#whyTheyStay(rows, columns) : "";
    const gone = [named(going.map(({ id }) => grid.edits.rowName(id)), "row"), named(leaving.map(({ id }) => columnWords(grid, id)), "column")].filter(Boolean);
    const said = [kept || (gone.length ? t`${sentence(gone.join(t(" and ")))} removed.` : ""), reasons].filter(Boolean).join(" ");
    if (!gone.length) {
      grid.say(said || t("There is nothing to remove."), { shown: true });
      return;
    }
    const operations = grid.edits.without(going.map(({ id }) => id), leaving.map(({ id }) => id));
    grid.change(operations, said, { shown: Boolean(reasons) });
  }

  #whyTheyStay(rows, columns) {
    const { grid } = this;
    const words = [
      ...rows.map(({ id }) => [grid.edits.rowName(id), grid.guard.row(id)]),
      ...columns.map(({ id }) => [columnWords(grid, id), grid.guard.column(id)]),
    ].filter(([, why]) => why).map(([name, [row, column, reason]]) => t`${sentence(name)} stays: ${grid.placeInWords(row, column)} is ${reason === "protected" ? t("protected") : t`protected (${reason})`}.`);
    return words.length > 3 ? t`${words.slice(0, 3).join(" ")} ${words.length - 3} more stay for the same reason.` : words.join(" ");
  }

  putBack(rows, columns) {
    const { grid } = this;
    const names = [named(rows.map(({ id }) => grid.edits.rowName(id)), "row"), named(columns.map(({ id }) => columnWords(grid, id)), "column")].filter(Boolean);
    const operations = grid.edits.withBack(rows.map(({ id }) => id), columns.map(({ id }) => id));
    const many = rows.length + columns.length > 1;
    grid.change(operations, t`${sentence(names.join(t(" and ")))} ${many ? t("are back") : t("is back")}.`);
  }

  removalWords(what, ids, removed) {
    const rows = what === "row";
    if (ids.length < 2) {
      if (ids.length && removed) return rows ? t("Put row back") : t("Put column back");
      return rows ? t("Remove row") : t("Remove column");
    }
    if (removed) return rows ? counted(ids.length, "Put {0} row back", "Put {0} rows back") : counted(ids.length, "Put {0} column back", "Put {0} columns back");
    return rows ? counted(ids.length, "Remove {0} row", "Remove {0} rows") : counted(ids.length, "Remove {0} column", "Remove {0} columns");
  }
}

export class Editing extends Changing {
  writes = true;
  label = t("Table, editable");
  help = t("Type to change a cell, F2 edits its text, Escape leaves the table.");
  #editor = null;

  tools() {
    const { grid } = this;
    const rows = () => grid.idsIn(grid.area()).rows;
    const removed = () => rows().length > 0 && rows().every((id) => grid.isRemoved(id));
    return [
      { name: "undo", label: t("Undo"), keys: "Ctrl Z", act: () => grid.undo(), off: () => !grid.history.canUndo },
      { name: "redo", label: t("Redo"), keys: "Ctrl Y", act: () => grid.redo(), off: () => !grid.history.canRedo },
      ...(grid.may("remove_row") ? [{ name: "remove", label: () => this.removalWords("row", rows(), removed()), keys: "Alt Del", act: () => this.removeRows(), off: () => !rows().length }] : []),
      ...(grid.may("insert_row") ? [{ name: "insert", label: t("Insert row below"), keys: "Alt Enter", act: () => this.insertRow() }] : []),
      ...(grid.may("remove_column") && grid.allowed ? [{ name: "remove-column", label: () => {
        const { columns } = grid.idsIn(grid.area());
        return this.removalWords("column", columns, columns.every((id) => grid.isColumnRemoved(id)));
      }, keys: "Alt Shift Del", act: () => this.removeColumns() }] : []),
    ];
  }

  key(key, control, event) {
    const { grid } = this;
    if (event.altKey && !control) {
      if (key === "Enter") return () => this.insertRow();
      if (key === "Delete" || key === "Backspace") return event.shiftKey ? () => this.removeColumns() : () => this.removeRows();
      return event.key.length === 1 && event.getModifierState?.("AltGraph") ? "type" : null;
    }
    if (key === " " && event.shiftKey) return () => grid.selectSpan("rows");
    if (key === " " && control) return () => grid.selectSpan("columns");
    if (control && key === "a") return () => grid.selectAll();
    if (control) return event.getModifierState?.("AltGraph") && event.key.length === 1 ? "type" : null;
    if (key === "F2") return () => this.open(grid.edits.text(grid.here.row, grid.here.column) ?? "", false);
    if (key === "Delete" || key === "Backspace") return () => this.empty();
    if (key === "Tab") return grid.tabTarget(event.shiftKey ? -1 : 1);
    return event.key.length === 1 ? "type" : null;
  }

  /* The key itself lands in the field that is opened for it. */
  type() {
    this.open("", true);
  }

  pressed({ row, column }, { again, touch }) {
    if (again && touch && row !== null && column !== null) this.open(this.grid.edits.text(row, column) ?? "", false);
  }

  doubled() {
    this.open(this.grid.edits.text(this.grid.here.row, this.grid.here.column) ?? "", false);
  }

  // --- the field of one cell

  get typing() {
    return this.#editor !== null;
  }

  writesIn(target) {
    return this.#editor?.contains(target) ?? false;
  }

  /* The operations as they would be if the text in the open field were kept. */
  operationsNow() {
    const editor = this.#editor;
    if (!editor || editor.untouched) return this.grid.edits.operations;
    if (editor.known?.text !== editor.text) {
      editor.known = { text: editor.text, operations: this.grid.edits.withTexts([{ ...editor.place, text: editor.text }]) };
    }
    return editor.known.operations;
  }

  open(text, typing) {
    const { grid } = this;
    const place = grid.here;
    const refusal = place && this.#refusal(place.row, place.column);
    if (!place || this.#editor) return; // two quick taps are a double click as well
    if (refusal) {
      grid.say(refusal, { shown: true });
      return;
    }
    grid.dropRange();
    grid.focusCell();
    this.#editor = new Editor(grid.cellAt(place), place, {
      text,
      typing,
      label: grid.placeInWords(place.row, place.column),
      judge: (written) => this.#judge(place, written),
      handlers: {
        input: (odd) => {
          grid.sayLater(odd ?? "");
          grid.emit("grid-change", { typing: true });
        },
        keep: (then) => this.#keep(then),
        cancel: () => {
          this.#close();
          grid.focusCell();
          grid.emit("grid-change", { typing: false });
        },
      },
    });
  }

  keep() {
    if (this.#editor) this.#keep({});
  }

  forget() {
    if (this.#editor) this.#close();
  }

  #keep({ stay, submit, move, tab }) {
    if (!this.#editor) return;
    const { grid } = this;
    const operations = this.operationsNow();
    this.#close();
    grid.change(operations, null);
    if (move) grid.moveBy(...move);
    else if (tab && grid.tabTarget(tab)) grid.tabTarget(tab)();
    else if (stay || tab) grid.focusCell();
    if (submit) grid.emit("grid-submit");
  }

  #close() {
    const editor = this.#editor;
    this.#editor = null; // first: taking the field away makes it lose the focus, which would keep the value
    editor.close();
  }

  /* What is odd about a text at a place, in words, or null. */
  #judge({ row, column }, text) {
    const { grid } = this;
    const { base } = grid.edits;
    if (grid.cellFormat === "ignore" || row === base.header_id || !base.column_ids.includes(column)) return null;
    const line = base.row_ids.indexOf(row);
    const like = unlike(base, column, line < 0 ? null : base.rows[line][base.column_ids.indexOf(column)], text);
    return like === null ? null : t`Not written like ${like}`;
  }

  /* Why a cell cannot be changed, in words, or null. */
  #refusal(row, column) {
    const { grid } = this;
    const { edits } = grid;
    if (row === edits.base.header_id) {
      if (!grid.may("rename_header")) return t("The names of the columns stay as they are here.");
    } else if (!grid.may("set_cell") && !edits.state.rows[edits.rowPlaces.get(row)]?.inserted) return t("Cells are not changed here.");
    if (grid.isRemoved(row)) return t`${edits.rowName(row)} is removed. Put it back before you edit it.`;
    if (grid.isColumnRemoved(column)) return t`${sentence(columnWords(grid, column))} is removed. Put it back before you edit it.`;
    const reason = grid.guard.cell(row, column);
    if (reason) return t`${grid.placeInWords(row, column)} ${reason === "protected" ? t("is protected") : t`is protected (${reason})`} and stays as it is.`;
    return null;
  }

  // --- several cells

  empty() {
    const { rows, columns } = this.grid.idsIn(this.#body(this.grid.area()));
    this.#write(rows.flatMap((row) => columns.map((column) => ({ row, column, text: "" }))), { said: (number) => counted(number, "{0} cell emptied.", "{0} cells emptied.") });
  }

  /* A range that reaches into the body leaves the names of its columns alone. */
  #body(area) {
    return area && area.top < 0 && area.bottom >= 0 ? { ...area, top: 0 } : area;
  }

  cut(data) {
    this.copy(data);
    this.empty();
  }

  /* One text over a range fills it; several go from the first cell on, as far as the table reaches. */
  paste(data) {
    const { grid } = this;
    const lines = take(data);
    const fills = lines.length === 1 && lines[0].length === 1;
    const area = fills ? this.#body(grid.area()) : grid.area();
    if (!area) return;
    const bottom = fills ? area.bottom : area.top + lines.length - 1;
    const right = fills ? area.right : area.left + Math.max(...lines.map(({ length }) => length)) - 1;
    const columns = grid.columnIds();
    let beyond = 0;
    const texts = [];
    for (const line of span(area.top, bottom)) {
      const row = grid.rowId(line);
      for (const place of span(area.left, right)) {
        const text = fills ? lines[0][0] : lines[line - area.top][place - area.left];
        if (text === undefined) continue;
        if (row === undefined || columns[place] === undefined) beyond += 1;
        else texts.push({ row, column: columns[place], text });
      }
    }
    this.#write(texts, { said: (number) => counted(number, "{0} cell pasted.", "{0} cells pasted."), beyond });
    if (texts.length > 1) grid.selectArea({ top: area.top, left: area.left, bottom: Math.min(bottom, grid.height - 1), right: Math.min(right, columns.length - 1) });
  }

  /* Write several texts as one step, and say what was left out and why. */
  #write(texts, { said: told, beyond = 0 }) {
    const { grid } = this;
    const refused = new Map();
    const wanted = texts.filter(({ row, column }) => {
      const why = this.#refusal(row, column);
      if (why) refused.set(why, (refused.get(why) ?? 0) + 1);
      return !why;
    });
    const left = [];
    if (beyond) left.push(counted(beyond, "{0} cell beyond the table was left out.", "{0} cells beyond the table were left out."));
    const reasons = [...refused.keys()];
    if (reasons.length) left.push(...reasons.slice(0, 2), ...(reasons.length > 2 ? [t`${reasons.length - 2} more were left out.`] : []));
    const operations = wanted.length ? grid.edits.withTexts(wanted) : grid.edits.operations;
    const one = wanted.length === 1;
    const said = wanted.length && !one ? told(wanted.length) : "";
    const changed = grid.change(operations, one ? null : said, { after: left.join(" "), shown: left.length > 0 });
    if (!changed) grid.say([texts.length && !refused.size ? t("Nothing is changed by that.") : "", ...left].filter(Boolean).join(" "), { shown: left.length > 0 });
  }

  // --- rows and columns

  removeRows() {
    this.remove(this.grid.idsIn(this.grid.area()).rows, []);
  }

  removeColumns() {
    this.remove([], this.grid.idsIn(this.grid.area()).columns);
  }

  insertRow() {
    const { grid } = this;
    if (!grid.may("insert_row")) {
      grid.say(t("Rows are not added here."), { shown: true });
      return;
    }
    const { rows } = grid.edits.state;
    let index = grid.here ? grid.edits.rowPlaces.get(grid.here.row) ?? -1 : rows.length - 1;
    while (index >= 0 && rows[index].removed) index -= 1;
    const after = index < 0 ? null : rows[index].id;
    const [id, operations] = grid.edits.withNewRow(after);
    const place = after === null ? t("at the top") : t`below ${within(grid.edits.rowName(after))}`;
    grid.change(operations, t`New row ${place}`, { goal: { row: id, column: grid.here?.column ?? grid.columnIds()[0] } });
  }
}

export class Structuring extends Changing {
  constructor(grid) {
    super(grid);
    const [rows, columns] = [grid.may("remove_row"), grid.may("remove_column")];
    const one = rows === columns ? null : rows ? "row" : "column";
    this.only = one && `${one}s`; // what alone may be removed, "rows" or "columns"; null for both
    this.label = t`Table, ${this.only ?? t("rows and columns")} can be removed`;
    const keys = {
      rows: t("X removes the row, Space chooses it,"),
      columns: t("X removes the column, Space chooses it,"),
      null: t("X removes the row, in the header the column. Shift Space and Control Space choose rows and columns,"),
    }[this.only];
    this.help = t`${keys} K keeps only what is chosen. Escape leaves the table.`;
  }

  tools() {
    const { grid } = this;
    return [
      { name: "remove", label: () => this.#removeWords(), keys: "X", act: () => this.removeChosen(), off: () => this.only === "rows" && !this.#goal().rows.length },
      { name: "keep", label: t("Keep only these"), keys: "K", act: () => this.keepChosen() },
      { name: "undo", label: t("Undo"), keys: "Ctrl Z", act: () => grid.undo(), off: () => !grid.history.canUndo },
      { name: "redo", label: t("Redo"), keys: "Ctrl Y", act: () => grid.redo(), off: () => !grid.history.canRedo },
      { name: "restore", label: t("Put all back"), act: () => this.putAllBack(), off: () => !this.#anythingRemoved() },
    ];
  }

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

  pressed({ row, column }, { extend, dragging }) {
    if (dragging || extend || row === null) return;
    if (column === null) this.choose("rows");
    else if (row === this.grid.edits.base.header_id) this.choose("columns");
  }

  dragged(start) {
    const { grid } = this;
    if (start.column === null) this.choose("rows");
    else if (start.row === grid.edits.base.header_id) this.choose("columns");
  }

  /* Choose the rows or columns of the range, or take the choice back. Choices stay until Esc or until they are used. */
  choose(what) {
    const { grid } = this;
    if (this.only && what !== this.only) {
      grid.say(t`${sentence(what)} are not removed here.`, { shown: true });
      return;
    }
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
    const out = (all, kept) => (kept.size ? all.filter(({ id, removed }) => !kept.has(id) && !removed) : []);
    const [goingRows, goingColumns] = [out(state.rows, rows), out(state.columns, columns)];
    if ((goingRows.length && !grid.may("remove_row")) || (goingColumns.length && !grid.may("remove_column"))) {
      grid.say(goingRows.length && !grid.may("remove_row") ? t("Rows are not removed here.") : t("Columns are not removed here."), { shown: true });
      return;
    }
    const kept = [rows.size && count(rows.size, "row"), columns.size && count(columns.size, "column")].filter(Boolean).join(t(" and "));
    this.#done(() => this.removeAllowed(goingRows, goingColumns, t`${sentence(kept)} kept, the others removed.`));
  }

  putAllBack() {
    const { state } = this.grid.edits;
    this.#done(() => this.putBack(state.rows.filter(({ removed }) => removed), state.columns.filter(({ removed }) => removed)));
  }

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
    if (rows.length && columns.length) return removed ? t("Put back") : t("Remove");
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
    return [this.#chosenWords() || grid.hereInWords(), left].filter(Boolean).join(" · ");
  }
}

export const MODES = { read: Reading, select: Selecting, edit: Editing, structure: Structuring, compare: Comparing };

export const sentence = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
export const columnWords = (grid, id) => t`column ${grid.edits.columnName(id).replace(t`column ${""}`, "")}`;

function named(names, what) {
  if (!names.length) return "";
  return names.length === 1 ? names[0] : count(names.length, what);
}
