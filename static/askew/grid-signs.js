/* What cells are besides their text, as class names, and the legend of it. */

import { element } from "./elements.js";
import { t } from "./language.js";

/** @type {(readonly [name: "evidence" | "read" | "looked", words: string])[]} */
const LEGEND = [
  ["evidence", t("marked as relevant")],
  ["read", t("cells the program reads")],
  ["looked", t("cells the model used")],
];

export class GridSigns {
  legend = element("ul", { className: "legend" });

  /** @param {import("./grid.js").AskewGrid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  /* Only the marks that are in the table; the current cell is named where there are others to tell it from. */
  drawLegend() {
    const present = LEGEND.filter(([name]) => (name === "evidence" ? this.grid.evidence.size && !this.grid.marksHidden : this.grid[name]?.size));
    const marks = present.length && this.grid.behaviour?.isGrid ? [["here", t("current cell")], ["focus", t("keys act here")], ...present] : present;
    this.legend.replaceChildren(...marks.map(([name, words]) => (
      element("li", { className: name === "focus" ? "key-hint" : "" }, element("span", { className: `sign ${name}`, ariaHidden: "true" }), words)
    )));
  }

  /** @param {string} row */
  flags(row) {
    const marked = this.grid.marked.rows.get(row);
    const evidence = this.grid.evidence.rows.get(row);
    const kept = this.grid.guard.rows.get(row);
    const hits = this.grid.finding.hits.get(row);
    const odd = this.grid.odd.get(row);
    const looked = this.grid.looked.rows.get(row);
    const read = this.grid.read.rows.get(row);
    if (!marked && !evidence && !kept && !hits && !odd && !looked && !read) return null;
    return this.grid.edits.state.columns.map(({ id }) => {
      const names = [];
      if (marked?.has(id)) names.push("marked");
      if (evidence?.has(id)) names.push("evidence");
      if (evidence?.has(id) && this.grid.marksHidden) names.push("withheld");
      if (kept?.has(id)) names.push("kept");
      if (looked?.has(id)) names.push("looked");
      if (read?.has(id)) names.push("read");
      if (odd?.has(id)) names.push("odd");
      if (hits?.has(id)) names.push("hit");
      if (hits && this.grid.finding.hit?.row === row && this.grid.finding.hit.column === id) names.push("now");
      return names.join(" ");
    });
  }

  /** @param {string} column */
  headFlags(column) {
    const head = this.grid.edits.base.header_id;
    const names = [];
    if (this.grid.evidence.has(head, column)) names.push("evidence");
    if (this.grid.guard.cell(head, column)) names.push("kept");
    if (this.grid.finding.hits.get(head)?.has(column)) names.push("hit");
    if (this.grid.finding.hit?.row === head && this.grid.finding.hit.column === column) names.push("now");
    return names.join(" ");
  }
}
