/* The mode in which cells are written, and rows added and removed. */

import { Changing } from "./changing.js";
import { take } from "./clipboard.js";
import { unlike } from "./contract.js";
import { Editor } from "./editor.js";
import { counted, t, within } from "./language.js";
import { MODES, columnWords, sentence } from "./modes.js";
import { span } from "./selection.js";
import { count } from "./words.js";

const FREE = 100; // cells or rows that may be changed at once whatever the contract says: a reason may allow more changes
const MOST = 1000; // that may be changed at once where there is no limit
const LONGEST = 100_000; // characters of a cell (MAX_TEXT of tableqa/data/tables.py): the server refuses more

export class Editing extends Changing {
  writes = true;
  label = t("Table, editable");
  help = t("Type to change a cell. F2 edits its text. Escape leaves the table.");
  /** @type {CellEditor | null} */
  #editor = null;

  tools() {
    const { grid } = this;
    const rows = () => grid.idsIn(grid.area()).rows;
    const removed = () => rows().length > 0 && rows().every((id) => grid.isRemoved(id));
    return [
      ...this.steps,
      ...(grid.may("remove_row") ? [{ name: "remove", label: () => this.removalWords("row", rows(), removed()), keys: "Alt Del", act: () => this.removeRows(), off: () => !rows().length }] : []),
      ...(grid.may("insert_row") ? [{ name: "insert", label: t("Insert row below"), keys: "Alt Enter", act: () => this.insertRow() }] : []),
      ...(grid.may("remove_column") && grid.allowed ? [{ name: "remove-column", label: () => {
        const { columns } = grid.idsIn(grid.area());
        return this.removalWords("column", columns, columns.every((id) => grid.isColumnRemoved(id)));
      }, keys: "Alt Shift Del", act: () => this.removeColumns() }] : []),
    ];
  }

  /** @param {string} key @param {boolean} control @param {KeyPress} event @returns {(() => void) | "type" | null} */
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

  /** @param {Pressed} place @param {PressedHow} how */
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

  /** @param {Node} target */
  writesIn(target) {
    return this.#editor?.contains(target) ?? false;
  }

  /* The operations as they would be if the text in the open field were kept. */
  operationsNow() {
    const editor = this.#editor;
    if (!editor || editor.untouched || tooLong(editor.text)) return this.grid.edits.operations;
    const { known, text } = editor;
    if (known?.text === text) return known.operations;
    const operations = this.grid.edits.withTexts([{ ...editor.place, text }]);
    editor.known = { text, operations };
    return operations;
  }

  /** @param {string} text @param {boolean} typing */
  open(text, typing) {
    const { grid } = this;
    const place = grid.here;
    const refusal = place && this.#refusal(place.row, place.column);
    if (!place || this.#editor) return; // two quick taps are a double click as well
    if (refusal) return grid.say(refusal, { shown: true });
    grid.dropRange();
    grid.focusCell();
    this.#editor = new Editor(/** @type {HTMLElement} */ (grid.painting.cell(place.row, place.column)), place, {
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

  /** @param {Kept} how */
  #keep({ stay, submit, move, tab }) {
    if (!this.#editor) return;
    const { grid } = this;
    const operations = this.operationsNow();
    const refusal = tooLong(this.#editor.text);
    this.#close();
    if (refusal) {
      grid.say(refusal, { shown: true });
      grid.emit("grid-change", { typing: false });
    } else grid.change(operations, null);
    if (move) grid.moveBy(...move);
    else if (tab && grid.tabTarget(tab)) grid.tabTarget(tab)?.();
    else if (stay || tab) grid.focusCell();
    if (submit) grid.emit("grid-submit");
  }

  #close() {
    const editor = this.#editor;
    this.#editor = null; // first: taking the field away makes it lose the focus, which would keep the value
    editor?.close();
  }

  /* What is odd about a text at a place, in words, or null. */
  /** @param {{ row: string, column: string }} place @param {string} text */
  #judge({ row, column }, text) {
    const { grid } = this;
    const refusal = tooLong(text);
    if (refusal) return refusal;
    const { base } = grid.edits;
    if (grid.cellFormat === "ignore" || row === base.header_id || !base.column_ids.includes(column)) return null;
    const line = base.row_ids.indexOf(row);
    const like = unlike(base, column, line < 0 ? null : base.rows[line][base.column_ids.indexOf(column)], text);
    return like === null ? null : t`Different format from ${like}`;
  }

  /* Why a cell cannot be changed, in words, or null. */
  /** @param {string} row @param {string} column */
  #refusal(row, column) {
    const { grid } = this;
    const { edits } = grid;
    if (row === edits.base.header_id) {
      if (!grid.may("rename_header")) return t("Columns cannot be renamed here.");
    } else if (!grid.may("set_cell") && !edits.state.rows[edits.rowPlaces.get(row)]?.inserted) return t("Cells cannot be changed here.");
    if (grid.isRemoved(row)) return t`${edits.rowName(row)} is removed. Restore it before you edit it.`;
    if (grid.isColumnRemoved(column)) return t`${sentence(columnWords(grid, column))} is removed. Restore it before you edit it.`;
    const reason = grid.guard.cell(row, column);
    if (reason) {
      const why = reason === "protected" ? t("is protected") : t`is protected (${reason})`;
      return t`${grid.placeInWords(row, column)} ${why} and cannot be changed.`;
    }
    return null;
  }

  // --- several cells

  empty() {
    const { rows, columns } = this.grid.idsIn(this.#body(this.grid.area()));
    this.#write(rows.flatMap((row) => columns.map((column) => ({ row, column, text: "" }))), { said: (number) => counted(number, "{0} cell emptied.", "{0} cells emptied.") });
  }

  /* A range that reaches into the body leaves the names of its columns alone. */
  /** @param {Area} area */
  #body(area) {
    return area && area.top < 0 && area.bottom >= 0 ? { ...area, top: 0 } : area;
  }

  /* Why so many changes cannot be made at once, in words, or null: they would be worked out one by one, then refused. */
  /** @param {number} number @param {string} what */
  #tooMany(number, what) {
    const { limit } = this.grid;
    if (number <= Math.max(FREE, limit ?? MOST)) return null;
    const allowed = counted(limit ?? MOST, "at most {0} change is allowed.", "at most {0} are allowed.");
    return t`Nothing was changed: ${count(number, what)} is too much at once; ${allowed}`;
  }

  /** @param {readonly { id: string }[]} rows @param {readonly { id: string }[]} columns @param {string} [kept] */
  removeAllowed(rows, columns, kept) {
    const refusal = this.#tooMany(rows.length, "row");
    if (refusal) this.grid.say(refusal, { shown: true });
    else super.removeAllowed(rows, columns, kept);
  }

  /** @param {DataTransfer} data */
  cut(data) {
    this.copy(data);
    this.empty();
  }

  /* One text over a range fills it; several go from the first cell on, as far as the table reaches. */
  /** @param {DataTransfer} data */
  paste(data) {
    const { grid } = this;
    const lines = take(data);
    if (!lines) return grid.say(t("Nothing changed."), { shown: true });
    const fills = lines.length === 1 && lines[0].length === 1;
    const area = fills ? this.#body(grid.area()) : grid.area();
    if (!area) return;
    const bottom = fills ? area.bottom : area.top + lines.length - 1;
    const right = fills ? area.right : area.left + lines.reduce((most, { length }) => Math.max(most, length), 0) - 1;
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
    const written = this.#write(texts, { said: (number) => counted(number, "{0} cell pasted.", "{0} cells pasted."), beyond });
    if (written && texts.length > 1) grid.selectArea({ top: area.top, left: area.left, bottom: Math.min(bottom, grid.height - 1), right: Math.min(right, columns.length - 1) });
  }

  /* Write several texts as one step, and say what was left out and why. False where they are too many, and none is written. */
  /** @param {readonly CellText[]} texts @param {{ said: (number: number) => string, beyond?: number }} how */
  #write(texts, { said: told, beyond = 0 }) {
    const { grid } = this;
    const refusal = this.#tooMany(texts.filter(({ row, column, text }) => grid.edits.text(row, column) !== text).length, "cell");
    if (refusal) {
      grid.say(refusal, { shown: true });
      return false;
    }
    const refused = new Map();
    const wanted = texts.filter(({ row, column, text }) => {
      const why = this.#refusal(row, column) ?? tooLong(text);
      if (why) refused.set(why, (refused.get(why) ?? 0) + 1);
      return !why;
    });
    const left = [];
    if (beyond) left.push(counted(beyond, "{0} cell outside the table was ignored.", "{0} cells outside the table were ignored."));
    const reasons = [...refused.keys()];
    if (reasons.length) left.push(...reasons.slice(0, 2), ...(reasons.length > 2 ? [t`${reasons.length - 2} more were ignored.`] : []));
    const operations = wanted.length ? grid.edits.withTexts(wanted) : grid.edits.operations;
    const one = wanted.length === 1 && texts.length === 1; // else the change is of another cell than the current one
    const said = wanted.length && !one ? told(wanted.length) : "";
    const changed = grid.change(operations, one ? null : said, { after: left.join(" "), shown: left.length > 0 });
    if (!changed) grid.say([texts.length && !refused.size ? t("Nothing changed.") : "", ...left].filter(Boolean).join(" "), { shown: left.length > 0 });
    return true;
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
    if (!grid.may("insert_row")) return grid.say(t("Rows cannot be added here."), { shown: true });
    const { rows } = grid.edits.state;
    let index = grid.here ? grid.edits.rowPlaces.get(grid.here.row) ?? -1 : rows.length - 1;
    while (index >= 0 && rows[index].removed) index -= 1;
    const after = index < 0 ? null : rows[index].id;
    const [id, operations] = grid.edits.withNewRow(after);
    const place = after === null ? t("at the top") : t`below ${within(grid.edits.rowName(after))}`;
    grid.change(operations, t`New row ${place}`, { goal: { row: id, column: grid.here?.column ?? grid.columnIds()[0] } });
  }
}

/* Why a text does not fit into a cell, in words, or null. The server counts characters, a script halves of some. */
/** @param {string} text */
function tooLong(text) {
  return text.length > LONGEST && [...text].length > LONGEST ? t`Not changed: a cell takes at most ${LONGEST} characters.` : null;
}

MODES.edit = Editing;
