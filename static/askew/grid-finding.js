/* Finding a text in a table. */

import { equalSets } from "./selection.js";

export class GridFinding {
  /** @type {Map<string, Set<string>>} */
  hits = new Map();
  /** @type {Hit | null} */
  hit = null;
  /** @type {import("./find.js").FindBar} */
  find = /** @type {import("./find.js").FindBar} */ (/** @type {unknown} */ (null));

  /** @param {import("./grid.js").AskewGrid} grid */
  constructor(grid) {
    this.grid = grid;
  }

  findable() {
    const { base, state } = this.grid.edits;
    const lines = [
      { row: base.header_id, texts: state.columns.map(({ name }) => name) },
      ...state.rows.map(({ id, cells, old }) => ({ row: id, texts: this.#readable(id, cells, old) })),
    ];
    return { columns: this.grid.columnIds(), lines };
  }

  /* What is hidden is not found either. */
  /** @param {string} row @param {readonly string[]} shown @param {ShownRow["old"]} old */
  #readable(row, shown, old) {
    const evidence = this.grid.marksHidden ? this.grid.evidence.rows.get(row) : null;
    const cells = old ? shown.map((text, place) => [text, ...(/** @type {Versions} */ (old.get(place))?.now?.map((version) => version.text) ?? [])].join("\n")) : shown;
    return evidence ? cells.map((text, place) => (evidence.has(this.grid.edits.state.columns[place].id) ? "" : text)) : cells;
  }

  /** @param {readonly Hit[]} hits @param {Hit | null} current @param {boolean} moves */
  showHits(hits, current, moves = true) {
    const before = this.hits;
    const had = this.hit;
    const rows = new Map();
    for (const { row, column } of hits) {
      if (!rows.has(row)) rows.set(row, new Set());
      rows.get(row).add(column);
    }
    const changed = new Set([...before.keys(), ...rows.keys()].filter((row) => !equalSets(before.get(row), rows.get(row))));
    if (had) changed.add(had.row);
    if (current) changed.add(current.row);
    this.hits = rows;
    this.hit = current;
    this.grid.painting.refresh(changed);
    this.grid.painting.refreshHead();
    if (current && moves) this.grid.painting.cell(current.row, current.column)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /* The bar is closed: people go on at what they found. */
  /** @param {GridCell | null} found */
  found(found) {
    if (found && this.grid.behaviour.isGrid) {
      this.grid.anchor = null;
      this.grid.rangeSpan = "cells";
      this.grid.here = found.row === this.grid.edits.base.header_id && !this.grid.behaviour.hasHead ? this.grid.here : found;
      this.grid.select();
    } else if (found) this.grid.point(found);
    this.grid.focusCell();
  }
}
