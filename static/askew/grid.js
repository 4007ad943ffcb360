/* <askew-grid>: a table that people read and edit.

   The server renders the table inside the element, and without this script it stays what it is. `show(table,
   operations, {edit})` paints it anew from JSON: in view mode a plain table, in edit mode an ARIA grid with the keys
   of a spreadsheet. The base table is never changed: an edit is an operation, undo is an earlier list of operations.
   Cells are text and only text. Events (all bubble): `grid-change` after every edit and every key typed into a cell,
   `grid-submit` when Enter is pressed outside a cell, `grid-leave` when Esc is. */

import { OperationError, marked, normalise, replay, withIds } from "./operations.js";
import { columnName, count, describe } from "./words.js";

const FIRST_ROWS = 60; // painted at once; the rest follow while the browser is idle
const MORE_ROWS = 400;
const CHUNK = 600; // cells in one <tbody>, about: what is out of sight is neither laid out nor painted (askew.css)
const ROW_HEIGHT = 2.1; // rem, of a row that has not been laid out yet
const LONG = 220; // characters; longer cells are clipped until they have the focus
const TALL = 5; // lines

export const GRID_KEYS = [
  [["←", "↑", "→", "↓"], "move"],
  [["Ctrl ←↑→↓"], "to the edge of the table"],
  [["Home", "End"], "first or last column; with Ctrl the corner"],
  [["Page up", "Page down"], "a screen up or down"],
  [["any character"], "type a new value"],
  [["F2"], "edit the value"],
  [["Enter"], "keep the value; when not editing, submit"],
  [["Shift Enter", "Alt Enter"], "line break, while editing"],
  [["Tab"], "next cell"],
  [["Esc"], "cancel the edit; when not editing, leave the table"],
  [["Del"], "empty the cell"],
  [["Ctrl Z", "Ctrl Y"], "undo, redo"],
  [["Alt Del"], "remove the row, or put it back"],
  [["Alt Enter"], "insert a row below"],
];

export class AskewGrid extends HTMLElement {
  #base = null;
  #edited = null;
  #state = null; // the edited table with its changes marked
  #memory = new Map();
  #operations = [];
  #past = [];
  #future = [];
  #edit = false;
  #current = null; // {row, column}: ids
  #editor = null;
  #entries = new Map(); // row id -> {tr, row}
  #painted = 0;
  #model = null; // an empty row, cloned for each
  #selected = null;
  #full = element("div", { className: "full", ariaHidden: "true" });
  #idle = null;
  #numeric = [];
  #parts = null;

  /* Paint `table` with `operations` marked on it. Operations that do not fit the table are left out: returns false. */
  show(table, operations = [], { edit = false } = {}) {
    this.#stopPainting();
    this.#editor = null;
    this.#base = withIds(table);
    this.#memory = new Map();
    this.#edit = edit;
    this.#past = [];
    this.#future = [];
    let fits = true;
    try {
      this.#operations = normalise(operations, this.#base);
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      fits = false;
      this.#operations = [];
    }
    // What came with the item was made step by step, too: each step can be undone.
    this.#past = this.#operations.map((_, index) => ({ operations: this.#operations.slice(0, index), current: null }));
    this.#replay();
    this.#numeric = numericColumns(this.#state);
    const [row] = this.#state.rows;
    const [column] = this.#state.columns;
    this.#current = row && column ? { row: row.id, column: column.id } : null;
    this.#build();
    return fits;
  }

  #replay() {
    this.#edited = replay(this.#base, this.#operations);
    this.#state = marked(this.#base, this.#edited, this.#memory);
  }

  /* The net operations, with what is being typed into a cell at this moment. */
  get operations() {
    return this.#editor ? this.#typed() : this.#operations;
  }

  get editing() {
    return this.#edit;
  }

  focusCell() {
    const cell = this.#cell();
    if (!cell) return this.#parts.sheet.focus();
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    cell.querySelector(".full")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  undo() {
    this.#travel(this.#past, this.#future, "Undone");
  }

  redo() {
    this.#travel(this.#future, this.#past, "Done again");
  }

  /* Remove the current row; a removed one is put back. */
  removeRow() {
    const row = this.#row();
    if (!this.#edit || !row) return;
    if (row.removed) {
      const without = this.#operations.filter((op) => !(op.op === "remove_row" && op.row === row.id));
      this.#change(normalise(without, this.#base), `${this.#rowName(row)} is back`);
    } else {
      this.#change(this.#withRemoval(row.id), `${this.#rowName(row)} removed`);
    }
  }

  #withRemoval(id) {
    const old = this.#edited.rows[this.#edited.row_ids.indexOf(id)];
    return normalise([...this.#operations, { op: "remove_row", row: id, old }], this.#base);
  }

  /* Insert an empty row below the current one and go there. */
  insertRow() {
    if (!this.#edit) return;
    const { rows } = this.#state;
    let index = this.#current ? this.#rowIndex() : rows.length - 1;
    while (index >= 0 && rows[index].removed) index -= 1;
    const numbers = this.#operations.filter(({ op }) => op === "insert_row").map(({ row }) => Number(row.slice(1)) || 0);
    const id = `n${Math.max(0, ...numbers) + 1}`;
    const cells = Array(this.#edited.header.length).fill("");
    const insertion = { op: "insert_row", row: id, after: index < 0 ? null : rows[index].id, cells };
    const column = this.#current?.column ?? this.#state.columns[0]?.id;
    const place = index < 0 ? "at the top" : `below ${this.#rowName(rows[index]).toLowerCase()}`;
    this.#change(normalise([...this.#operations, insertion], this.#base), `New row ${place}`, { row: id, column });
  }

  /* Take back one change of the list, whatever came after it. */
  takeBack(index) {
    const operation = this.#operations[index];
    if (!operation) return;
    const rest = operation.op === "insert_row"
      ? this.#withRemoval(operation.row)
      : normalise(this.#operations.toSpliced(index, 1), this.#base);
    this.#change(rest, `Taken back: ${describe(operation, this.#base)}`);
  }

  say(text) {
    const { status } = this.#parts;
    status.textContent = "";
    status.textContent = text;
  }

  // --- painting ----------------------------------------------------------------------------------------------------

  #build() {
    this.#parts ??= { status: element("p", { className: "sr", role: "status" }) };
    const sheet = element("div", { className: "sheet", role: "region", ariaLabel: "Table" });
    const table = element("table", { className: "tabular" });
    const head = table.appendChild(element("thead", { role: "rowgroup" }));
    const { title, caption } = this.#base;
    if (title || caption) table.prepend(element("caption", { textContent: [title, caption].filter(Boolean).join(": "), dir: "auto" }));
    sheet.append(table);
    Object.assign(this.#parts, { sheet, table, head, tools: this.#edit ? this.#tools() : null });
    sheet.tabIndex = this.#edit && this.#current ? -1 : 0;
    // Roles are spelt out: rows laid out as grids would lose the ones that a table gives them.
    table.setAttribute("role", this.#edit ? "grid" : "table");
    if (this.#edit) {
      table.setAttribute("aria-label", "Table, editable");
      table.addEventListener("keydown", (event) => this.#onKey(event));
      table.addEventListener("click", (event) => this.#onClick(event));
      table.addEventListener("dblclick", (event) => this.#onDoubleClick(event));
      for (const kind of ["copy", "cut", "paste"]) table.addEventListener(kind, (event) => this.#onClipboard(event));
      table.classList.add("editable");
    }
    this.#entries.clear();
    this.#painted = 0;
    this.#model = this.#emptyRow();
    this.#paintHead();
    this.#paintMore(FIRST_ROWS);
    this.replaceChildren(...[this.#parts.tools, sheet, this.#parts.status].filter(Boolean));
    this.#lockWidths();
    this.#select();
    this.#paintLater();
  }

  #paintHead() {
    const { head, table } = this.#parts;
    const above = this.#base.header_rows.map((cells, row) => {
      const tr = element("tr", { className: "above" });
      tr.append(element("td", { className: "number" }));
      for (let index = 0; index < cells.length; ) {
        const { columns } = this.#spanAt(`h${row}`, this.#base.column_ids[index]) ?? { columns: 1 };
        tr.append(element("td", { textContent: cells[index], dir: "auto", colSpan: columns }));
        index += columns;
      }
      return tr;
    });
    const tr = element("tr", { role: "row" });
    const corner = element("th", { className: "number", scope: "col", role: "columnheader" });
    corner.append(element("span", { className: "sr", textContent: "Row" }));
    tr.append(corner, ...this.#state.columns.map((column, index) => this.#headCell(column, index)));
    head.replaceChildren(...above, tr);
    table.setAttribute("aria-rowcount", String(this.#state.rows.length + 1));
    table.setAttribute("aria-colcount", String(this.#state.columns.length + 1));
  }

  #spanAt(row, column) {
    return (this.#base.spans ?? []).find((span) => span.row === row && span.column === column);
  }

  /* Cells that the source had merged stay cells of their own, which can be edited; they are marked as belonging together. */
  #markMerged() {
    const { row_ids, column_ids } = this.#base;
    for (const { row, column, rows, columns } of this.#base.spans ?? []) {
      const top = row_ids.indexOf(row);
      const left = column_ids.indexOf(column);
      if (top < 0 || left < 0) continue;
      for (const id of row_ids.slice(top, top + rows)) {
        for (const name of column_ids.slice(left, left + columns)) {
          const cell = this.#entries.get(id)?.tr.querySelector(`[data-column="${name}"]`);
          if (!cell) continue;
          cell.classList.add("merged");
          cell.title = `One cell in the source: ${rows} by ${columns}`;
        }
      }
    }
  }

  #headCell(column, index) {
    const th = element("th", { scope: "col", role: "columnheader", dir: "auto" });
    th.dataset.column = column.id;
    th.classList.toggle("n", Boolean(this.#numeric[index]));
    th.classList.toggle("removed", column.removed);
    if (column.old !== null) th.append(was(column.old), element("ins", { textContent: column.name }));
    else if (column.name.trim()) th.textContent = column.name;
    else th.append(element("span", { className: "unnamed", textContent: `column ${index + 1}` }));
    return th;
  }

  #paintMore(count) {
    const { table } = this.#parts;
    const chunk = Math.min(40, Math.max(10, Math.round(CHUNK / this.#state.columns.length)));
    const end = Math.min(this.#state.rows.length, this.#painted + count);
    while (this.#painted < end) {
      let body = table.tBodies[table.tBodies.length - 1];
      if (!body || body.rows.length >= chunk) body = table.appendChild(element("tbody", { role: "rowgroup" }));
      const rows = this.#state.rows.slice(this.#painted, Math.min(end, this.#painted + chunk - body.rows.length));
      body.append(...rows.map((row) => this.#entry(row).tr));
      body.style.containIntrinsicBlockSize = `auto ${body.rows.length * ROW_HEIGHT}rem`;
      this.#painted += rows.length;
    }
    this.#markMerged();
  }

  #paintLater() {
    if (this.#painted >= this.#state.rows.length) return;
    const wait = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 16));
    this.#idle = wait(() => {
      this.#paintMore(MORE_ROWS);
      this.#paintLater();
    }, { timeout: 200 });
  }

  #paintAll() {
    this.#stopPainting();
    if (this.#painted < this.#state.rows.length) this.#paintMore(this.#state.rows.length);
  }

  #stopPainting() {
    if (this.#idle !== null) (globalThis.cancelIdleCallback ?? clearTimeout)(this.#idle);
    this.#idle = null;
  }

  #emptyRow() {
    const tr = element("tr", { role: "row" });
    tr.append(element("th", { className: "number", scope: "row", role: "rowheader" }));
    this.#state.columns.forEach(({ id }, index) => {
      const td = element("td", { role: this.#edit ? "gridcell" : "cell", dir: "auto", className: this.#numeric[index] ? "n" : "" });
      td.dataset.column = id;
      tr.append(td);
    });
    return tr;
  }

  #entry(row) {
    const tr = this.#model.cloneNode(true);
    tr.dataset.row = row.id;
    const entry = { tr, row: null };
    this.#entries.set(row.id, entry);
    this.#paintRow(entry, row);
    return entry;
  }

  #paintRow(entry, row) {
    const { tr, row: before } = entry;
    const [number, ...cells] = tr.children;
    if (before === null || before.removed !== row.removed) {
      tr.classList.toggle("removed", row.removed);
      tr.classList.toggle("inserted", row.inserted);
      number.textContent = row.inserted ? "new" : String(row.number);
      if (row.removed) number.append(element("small", { textContent: "removed" }));
    }
    row.cells.forEach((text, index) => {
      const old = row.old?.get(index);
      if (before && before.cells[index] === text && before.old?.get(index) === old) return;
      paintCell(cells[index], text, old);
    });
    entry.row = row;
  }

  /* Bring the page in line with the marked table: only rows that differ are touched. */
  #paint() {
    const { table } = this.#parts;
    const { rows } = this.#state;
    const present = rows.length === this.#entries.size && rows.every(({ id }) => this.#entries.has(id));
    if (!present) this.#dropRows(new Set(rows.map(({ id }) => id)));
    let above = null;
    for (const row of rows) {
      const entry = this.#entries.get(row.id) ?? this.#entry(row);
      if (entry.row !== row) this.#paintRow(entry, row);
      if (above && following(above) !== entry.tr) above.after(entry.tr);
      else if (!above && table.tBodies[0]?.firstElementChild !== entry.tr) {
        (table.tBodies[0] ?? table.appendChild(element("tbody", { role: "rowgroup" }))).prepend(entry.tr);
      }
      above = entry.tr;
    }
    this.#painted = rows.length;
    table.setAttribute("aria-rowcount", String(rows.length + 1));
  }

  #dropRows(present) {
    for (const [id, { tr }] of this.#entries) {
      if (present.has(id)) continue;
      const body = tr.parentElement;
      tr.remove();
      if (!body.rows.length) body.remove();
      this.#entries.delete(id);
    }
  }

  /* Columns take the width of what they hold and keep it: an edit never makes the table jump. A table that is a little
     too wide is squeezed into the page, a much wider one scrolls. */
  #lockWidths() {
    const { table, head } = this.#parts;
    const measure = () => [...head.lastElementChild.children].map((cell) => cell.getBoundingClientRect().width);
    table.classList.add("natural");
    let widths = measure();
    const room = this.clientWidth;
    const natural = sum(widths);
    if (!natural || !room) return;
    if (natural <= 1.6 * room) {
      table.classList.remove("natural");
      widths = measure();
    }
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    const rounded = widths.map((width) => Math.ceil(width + 0.5));
    table.style.setProperty("--columns", rounded.map((width) => `${width / rem}rem`).join(" "));
    table.style.width = `${sum(rounded) / rem}rem`;
    table.style.setProperty("--first", `${(rounded[1] ?? 0) / rem}rem`);
    table.classList.toggle("pinned", rounded[1] <= room / 3);
    table.classList.add("locked");
  }

  #tools() {
    const tools = element("div", { className: "grid-tools", role: "group", ariaLabel: "Edit the table" });
    const button = (name, label, keys, act) => {
      const made = element("button", { type: "button", className: "quiet", textContent: label });
      made.dataset.tool = name;
      made.append(element("kbd", { textContent: keys }));
      made.addEventListener("click", (event) => {
        this.#commit();
        act();
        if (event.detail > 0 && this.#edit) this.focusCell(); // a mouse goes back to the cell; a keyboard stays here
      });
      tools.append(made);
    };
    button("undo", "Undo", "Ctrl Z", () => this.undo());
    button("redo", "Redo", "Ctrl Y", () => this.redo());
    button("remove", "Remove row", "Alt Del", () => this.removeRow());
    button("insert", "Insert row below", "Alt Enter", () => this.insertRow());
    tools.append(element("span", { className: "where", ariaHidden: "true" }));
    return tools;
  }

  #refreshTools() {
    const { tools } = this.#parts;
    if (!tools) return;
    const row = this.#row();
    const off = { undo: !this.#past.length, redo: !this.#future.length, remove: !row, insert: false };
    for (const button of tools.querySelectorAll("button")) {
      button.setAttribute("aria-disabled", String(off[button.dataset.tool]));
    }
    tools.querySelector("[data-tool=remove]").firstChild.data = row?.removed ? "Put row back" : "Remove row";
    const index = this.#columnIndex();
    tools.querySelector(".where").textContent = row && index >= 0
      ? `${this.#rowName(row)}, ${this.#columnName(index)}`
      : "";
  }

  // --- where the focus is ------------------------------------------------------------------------------------------

  #rowIndex() {
    return this.#current ? this.#state.rows.findIndex((row) => row.id === this.#current.row) : -1;
  }

  #columnIndex() {
    return this.#current ? this.#state.columns.findIndex((column) => column.id === this.#current.column) : -1;
  }

  #row() {
    return this.#state.rows[this.#rowIndex()] ?? null;
  }

  #rowName(row) {
    return row.number === null ? "New row" : `Row ${row.number}`;
  }

  #columnName(index) {
    const { id } = this.#state.columns[index];
    return columnName(this.#base.column_ids.includes(id) ? this.#base : this.#edited, id);
  }

  #cell() {
    const column = this.#columnIndex();
    if (column < 0) return null;
    if (!this.#entries.has(this.#current.row)) this.#paintAll();
    return this.#entries.get(this.#current.row)?.tr.children[column + 1] ?? null;
  }

  /* Mark the current cell; only it can be reached with Tab. */
  #select() {
    this.#selected?.removeAttribute("tabindex");
    this.#selected?.removeAttribute("aria-selected");
    this.#selected = this.#edit ? this.#cell() : null;
    const body = this.#selected?.closest("tbody") ?? null;
    const here = this.#parts.table.querySelector("tbody.here");
    if (here !== body) {
      here?.classList.remove("here");
      body?.classList.add("here");
    }
    if (this.#selected) {
      this.#selected.tabIndex = 0;
      this.#selected.setAttribute("aria-selected", "true");
    }
    this.#showFull();
    this.#refreshTools();
  }

  /* A clipped cell shows its whole text over its neighbours while it has the focus. */
  #showFull() {
    this.#full.remove();
    if (!this.#selected?.querySelector(".long")) return;
    this.#full.textContent = this.#text();
    this.#selected.append(this.#full);
  }

  #goTo(rowIndex, columnIndex) {
    const row = this.#state.rows[clamp(rowIndex, this.#state.rows.length)];
    const column = this.#state.columns[clamp(columnIndex, this.#state.columns.length)];
    if (!row || !column) return;
    this.#current = { row: row.id, column: column.id };
    this.#select();
    this.focusCell();
  }

  #moveBy(rows, columns) {
    this.#goTo(this.#rowIndex() + rows, this.#columnIndex() + columns);
  }

  /* Tab: the next cell, on to the next row; past the last cell the focus leaves the table. */
  #tab(step) {
    const width = this.#state.columns.length;
    const next = this.#rowIndex() * width + this.#columnIndex() + step;
    if (next < 0 || next >= width * this.#state.rows.length) return false;
    this.#goTo(Math.floor(next / width), next % width);
    return true;
  }

  #page() {
    const { sheet } = this.#parts;
    const height = this.#cell()?.offsetHeight || 32;
    return Math.max(1, Math.floor(sheet.clientHeight / height) - 2);
  }

  // --- keys and pointer --------------------------------------------------------------------------------------------

  #onKey(event) {
    if (this.#editor || event.target.tagName !== "TD") return;
    if (event.isComposing || event.keyCode === 229 || event.key === "Dead") {
      this.#open("", true); // an input method starts: let it write into the cell
      return;
    }
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = this.#action(key, control, event);
    if (act) {
      event.preventDefault();
      event.stopPropagation();
      act();
    } else if (event.key.length === 1 && !control && !event.altKey) {
      event.stopPropagation();
      this.#open("", true); // the key itself lands in the cell's editor
    } else if (event.key.length === 1 && event.getModifierState?.("AltGraph")) {
      event.stopPropagation();
      this.#open("", true);
    }
  }

  #action(key, control, event) {
    const lastRow = this.#state.rows.length - 1;
    const lastColumn = this.#state.columns.length - 1;
    if (event.altKey) {
      if (key === "Enter") return () => this.insertRow();
      if (key === "Delete" || key === "Backspace") return () => this.removeRow();
      return null;
    }
    if (control) {
      switch (key) {
        case "z": return () => (event.shiftKey ? this.redo() : this.undo());
        case "y": return () => this.redo();
        case "Enter": return () => this.#emit("grid-submit");
        case "Home": return () => this.#goTo(0, 0);
        case "End": return () => this.#goTo(lastRow, lastColumn);
        case "ArrowUp": return () => this.#goTo(0, this.#columnIndex());
        case "ArrowDown": return () => this.#goTo(lastRow, this.#columnIndex());
        case "ArrowLeft": return () => this.#goTo(this.#rowIndex(), 0);
        case "ArrowRight": return () => this.#goTo(this.#rowIndex(), lastColumn);
        default: return null;
      }
    }
    switch (key) {
      case "ArrowUp": return () => this.#moveBy(-1, 0);
      case "ArrowDown": return () => this.#moveBy(1, 0);
      case "ArrowLeft": return () => this.#moveBy(0, -1);
      case "ArrowRight": return () => this.#moveBy(0, 1);
      case "Home": return () => this.#goTo(this.#rowIndex(), 0);
      case "End": return () => this.#goTo(this.#rowIndex(), lastColumn);
      case "PageUp": return () => this.#moveBy(-this.#page(), 0);
      case "PageDown": return () => this.#moveBy(this.#page(), 0);
      case "F2": return () => this.#open(this.#text(), false);
      case "Delete":
      case "Backspace": return () => this.#write("");
      case "Enter": return () => this.#emit("grid-submit");
      case "Escape": return () => this.#emit("grid-leave");
      case "Tab": {
        const step = event.shiftKey ? -1 : 1;
        const width = this.#state.columns.length;
        const next = this.#rowIndex() * width + this.#columnIndex() + step;
        return next < 0 || next >= width * this.#state.rows.length ? null : () => this.#tab(step);
      }
      default: return null;
    }
  }

  #onClick(event) {
    const td = event.target.closest?.("tbody td");
    if (!td || event.target.tagName === "TEXTAREA" || getSelection()?.toString()) return;
    const row = td.parentElement.dataset.row;
    const column = td.dataset.column;
    const again = this.#current?.row === row && this.#current?.column === column && document.activeElement === td;
    this.#current = { row, column };
    this.#select();
    if (again && event.pointerType === "touch") this.#open(this.#text(), false);
    else td.focus({ preventScroll: true });
  }

  #onDoubleClick(event) {
    if (event.target.tagName === "TEXTAREA" || !event.target.closest?.("tbody td")) return;
    getSelection()?.removeAllRanges();
    this.#open(this.#text(), false);
  }

  #onClipboard(event) {
    if (this.#editor || event.target.tagName !== "TD" || (event.type !== "paste" && getSelection()?.toString())) return;
    event.preventDefault();
    if (event.type === "paste") {
      this.#write(event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n").replace(/\n$/, ""));
      return;
    }
    event.clipboardData.setData("text/plain", this.#text());
    if (event.type === "cut") this.#write("");
  }

  // --- editing one cell --------------------------------------------------------------------------------------------

  #text() {
    return this.#row()?.cells[this.#columnIndex()] ?? "";
  }

  #refuses() {
    const row = this.#row();
    const column = this.#state.columns[this.#columnIndex()];
    if (!this.#edit || !row || !column) return true;
    if (row.removed) this.say(`${this.#rowName(row)} is removed. Put it back before you edit it.`);
    return row.removed || column.removed;
  }

  #open(text, typing) {
    const cell = this.#cell();
    if (!cell || this.#editor || this.#refuses()) return; // two quick taps are a double click as well
    const name = `${this.#rowName(this.#row())}, ${this.#columnName(this.#columnIndex())}`;
    const area = element("textarea", { className: "editor", value: text, ariaLabel: name, rows: 1, spellcheck: false, dir: "auto" });
    this.#editor = { area, typing, opened: typing ? null : area.value, ...this.#current };
    area.addEventListener("keydown", (event) => this.#onEditorKey(event));
    area.addEventListener("input", () => {
      grow(area);
      this.#emit("grid-change", { typing: true });
    });
    area.addEventListener("blur", () => this.#commit());
    cell.append(area);
    area.focus({ preventScroll: true });
    area.setSelectionRange(area.value.length, area.value.length);
    grow(area);
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #onEditorKey(event) {
    event.stopPropagation();
    if (event.isComposing || event.keyCode === 229) return;
    const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const bare = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (event.key === "Escape") this.#cancel();
    else if (event.key === "Enter" && event.altKey) {
      const { area } = this.#editor;
      area.setRangeText("\n", area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input"));
    } else if (event.key === "Enter" && event.shiftKey) return;
    else if (event.key === "Enter") {
      this.#commit();
      this.focusCell();
      if (event.ctrlKey || event.metaKey) this.#emit("grid-submit");
    } else if (event.key === "Tab") {
      const step = event.shiftKey ? -1 : 1;
      this.#commit();
      if (!this.#tab(step)) this.focusCell();
    } else if (this.#editor.typing && bare && arrows[event.key]) {
      this.#commit();
      this.#moveBy(...arrows[event.key]);
    } else return;
    event.preventDefault();
  }

  /* What the operations would be if the text in the open editor were kept. */
  #typed() {
    const { area, opened, row, column, typed } = this.#editor;
    if (opened !== null && area.value === opened) return this.#operations;
    if (typed?.text !== area.value) {
      this.#editor.typed = { text: area.value, operations: this.#withText(row, column, area.value) };
    }
    return this.#editor.typed.operations;
  }

  #withText(row, column, text) {
    const old = this.#edited.rows[this.#edited.row_ids.indexOf(row)][this.#edited.column_ids.indexOf(column)];
    const kept = old.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text; // a text field turns \r\n into \n
    return normalise([...this.#operations, { op: "set_cell", row, column, old, new: kept }], this.#base);
  }

  #write(text) {
    if (this.#refuses()) return;
    const { row, column } = this.#current;
    this.#change(this.#withText(row, column, text), null);
  }

  #commit() {
    if (!this.#editor) return;
    const operations = this.#typed();
    this.#close();
    this.#change(operations, null);
  }

  #cancel() {
    this.#close();
    this.focusCell();
    this.#emit("grid-change", { typing: false });
  }

  #close() {
    const { area } = this.#editor;
    this.#editor = null; // first: taking the field away makes it lose the focus, which would keep the value
    area.remove();
  }

  // --- history -----------------------------------------------------------------------------------------------------

  #change(operations, said, goal = this.#current) {
    if (same(operations, this.#operations)) return;
    this.#past.push({ operations: this.#operations, current: this.#current });
    this.#future = [];
    this.#become(operations, goal);
    this.say(said ?? this.#saidOf());
  }

  #saidOf() {
    const { row, column } = this.#current;
    const operation = this.#operations.find((op) => op.op === "set_cell" && op.row === row && op.column === column);
    if (operation) return describe(operation, this.#base);
    return this.#row()?.inserted ? "Kept" : "As it was before";
  }

  #travel(from, to, word) {
    this.#commit();
    const step = from.pop();
    if (!step) {
      this.say(from === this.#past ? "Nothing to undo." : "Nothing to redo.");
      return;
    }
    to.push({ operations: this.#operations, current: this.#current });
    const focused = this.#parts.table.contains(document.activeElement);
    this.#become(step.operations, step.current ?? this.#current);
    if (focused) this.focusCell();
    this.say(`${word}. ${count(this.#operations.length, "change")} now.`);
  }

  #become(operations, goal) {
    this.#paintAll();
    const shape = columnShape(this.#state);
    const focused = this.#parts.table.contains(document.activeElement);
    const index = this.#rowIndex();
    this.#operations = operations;
    this.#replay();
    if (shape === columnShape(this.#state)) this.#paint();
    else this.#build();
    this.#current = goal;
    if (goal && this.#rowIndex() < 0) {
      const row = this.#state.rows[clamp(index, this.#state.rows.length)];
      this.#current = row ? { row: row.id, column: goal.column } : null;
    }
    this.#select();
    if (focused && !this.#parts.table.contains(document.activeElement)) this.focusCell();
    this.#emit("grid-change", { typing: false });
  }

  #emit(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }
}

const columnShape = ({ columns }) => columns.map(({ id, name, removed }) => [id, name, removed].join("\n")).join("\t");
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/* The row below, wherever one <tbody> ends and another begins. */
const following = (tr) => tr.nextElementSibling ?? tr.parentElement.nextElementSibling?.firstElementChild ?? null;

function paintCell(td, text, old) {
  const changed = old !== undefined;
  td.classList.toggle("changed", changed);
  if (changed) {
    td.replaceChildren(was(old), element("ins", text === "" ? { className: "emptied", textContent: "empty" } : { textContent: text }));
  } else if (text.length > LONG || lines(text) > TALL) {
    td.replaceChildren(element("span", { className: "long", textContent: text, tabIndex: td.role === "gridcell" ? -1 : 0 }));
  } else {
    td.textContent = text;
  }
}

function was(text) {
  const del = element("del");
  del.append(element("span", { className: "sr", textContent: "was " }), text === "" ? "(empty)" : text);
  return del;
}

/* Columns that hold numbers are set flush right. Only how they look: nothing is parsed, nothing rewritten. */
function numericColumns({ columns, rows }) {
  return columns.map((_, column) => {
    let filled = 0;
    let numbers = 0;
    for (const { cells } of rows.slice(0, 200)) {
      const text = cells[column].trim();
      if (!text || text === "-" || text === "–" || text === "—") continue;
      filled += 1;
      if (/^[(+\-−–$€£¥]{0,3}\s?[\d.,\s]*\d[\d.,]*\s?%?\)?$/.test(text)) numbers += 1;
    }
    return filled > 0 && numbers >= 0.9 * filled;
  });
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const clamp = (index, length) => Math.min(Math.max(index, 0), length - 1);
const lines = (text) => text.split("\n").length;

function grow(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}

customElements.define("askew-grid", AskewGrid);
