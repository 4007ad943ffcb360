/* The head of a table: the names of its columns, and further rows above them. */

import { notes, offerRemoval, versions } from "./cell-content.js";
import { element } from "./elements.js";
import { t } from "./language.js";

export class TableHead {
  head = /** @type {PaintedHead} */ (element("thead", { role: "rowgroup" }));
  /** @type {Map<string, HTMLElement>} */
  headCells = new Map(); // column id -> th
  /** @type {WeakMap<Element, string>} */
  #dressed = new WeakMap(); // th -> the class names that were painted

  /** @param {import("./painting.js").Painting} painting */
  constructor(painting) {
    this.painting = painting;
  }

  /** @param {boolean} anew */
  paintHead(anew) {
    const { grid } = this.painting.options;
    if (anew) {
      const above = this.painting.base.header_rows.map((cells, row) => this.#above(cells, row));
      const corner = element("th", { className: "number", scope: "col", role: "columnheader" }, element("span", { className: "sr", textContent: t("Row") }));
      const tr = element("tr", { role: "row", ariaRowIndex: String(above.length + 1) }, corner);
      this.headCells.clear();
      for (const { id } of this.painting.state.columns) {
        const th = element("th", { scope: "col", role: "columnheader", dir: "auto", dataset: { column: id } });
        this.headCells.set(id, th);
        tr.append(th);
      }
      this.head.replaceChildren(...above, tr);
      this.painting.table.setAttribute("aria-colcount", String(this.painting.state.columns.length + 1));
    }
    this.painting.state.columns.forEach((column, index) => this.#paintHeadCell(this.headCells.get(column.id), column, index));
    this.painting.tellRows();
    if (grid) this.head.classList.add("pointed");
  }

  /* A further header row: the cells that the source had merged in it are one. */
  /** @param {readonly string[]} cells @param {number} row */
  #above(cells, row) {
    const number = element("td", { className: "number", role: this.painting.options.grid ? "gridcell" : "cell" });
    const tr = element("tr", { className: "above", role: "row", ariaRowIndex: String(row + 1) }, number);
    const { columns: shown } = this.painting.state;
    const spans = this.painting.base.spans ?? [];
    for (let index = 0; index < shown.length;) {
      const { from } = shown[index];
      const span = spans.find((one) => one.row === `h${row}` && one.column === this.painting.base.column_ids[from]);
      let width = 1;
      while (span && width < span.columns && shown[index + width]?.from === from + width) width += 1;
      const cell = element("td", { textContent: from < 0 ? "" : cells[from], dir: "auto", colSpan: width, role: "columnheader" });
      if (width > 1) cell.ariaColSpan = String(width);
      tr.append(cell);
      index += width;
    }
    return tr;
  }

  /** @param {HTMLElement} th @param {ShownColumn} column @param {number} index */
  #paintHeadCell(th, column, index) {
    const note = this.painting.options.notes?.get(column.id) ?? (column.removed ? t("removed") : column.inserted ? t("new") : "");
    const key = JSON.stringify([column.name, column.old, note]);
    if (th.dataset.painted !== key) {
      th.dataset.painted = key;
      const name = column.name.trim() ? element("span", { textContent: column.name }) : element("span", { className: "unnamed", textContent: t`column ${index + 1}` });
      const parts = column.old !== null ? versions(column.old, column.name) : [name];
      if (column.old !== null && /** @type {Versions} */ (column.old).was !== null) parts.push(parts.shift()); // the new names above the old one
      th.replaceChildren(...parts, ...notes(column.notes, note));
      if (this.painting.options.removing?.columns) offerRemoval(th, "column", column.name.trim() || t`column ${index + 1}`, column.removed);
    }
    const classes = [this.painting.numeric[index] ? "n" : "", column.removed ? "removed" : "", column.inserted ? "inserted" : "", column.old !== null ? "changed" : "", this.painting.options.headFlags?.(column.id) ?? ""];
    const names = classes.filter(Boolean).join(" ");
    const had = this.#dressed.get(th) ?? "";
    if (names === had) return;
    for (const name of had.split(" ")) if (name) th.classList.remove(name); // a page may have put others there
    for (const name of names.split(" ")) if (name) th.classList.add(name);
    this.#dressed.set(th, names);
  }
}
