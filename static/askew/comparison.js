/* <askew-comparison>: one or more edited variants of a table, in a single table or as two complete tables next to each other.

   The server renders the single table inside the element, and without this script it stays what it is. `compare(data)`
   paints it from JSON: {table, variants: [{letter, name, operations, cells}], marks: [[row id, column id], ...]}. With
   data-source, the JSON is in the script element of that id; with data-keys, the keys of a page act on it, where no other
   element of the page has keys. One variant is compared with the original. */

import "./comparing.js";
import "./grid.js";
import { comparisonKeys } from "./comparison-keys.js";
import { Keys } from "./keys.js";
import { t } from "./language.js";
import { element } from "./elements.js";
import { Variants } from "./variants.js";

class AskewComparison extends HTMLElement {
  /** @type {Comparison & { marks: readonly Pair[], merged: Variants | null }} */
  #data = /** @type {never} */ (undefined);
  /** @type {[Variant, Variant][]} */
  #pairs = [];
  /** @type {GridElement | null} */
  #stepped = null; // the table whose change was gone to last
  #pair = -1; // the tables that are next to each other; -1: the single table

  connectedCallback() {
    const source = this.dataset.source && document.getElementById(this.dataset.source);
    if (!source || this.#data) return;
    this.compare(JSON.parse(source.textContent));
    if ("keys" in this.dataset) this.keys = new Keys(this, comparisonKeys(this));
  }

  /** @param {Comparison} data */
  compare(data) {
    const { table, variants } = data;
    const merged = variants.length > 1 || variants[0].letter ? new Variants(table, variants) : null;
    this.#data = { marks: [], ...data, merged };
    const active = variants.filter(({ operations = [], cells = [] }) => operations.length || cells.length);
    const sides = active.length > 1 ? active : [{ letter: "", name: t("Original") }, ...(active.length ? active : variants.slice(0, 1))];
    this.#pairs = sides.flatMap((left, at) => sides.slice(at + 1).map((right) => /** @type {[Variant, Variant]} */ ([left, right])));
    this.#pair = this.#single ? -1 : 0;
    this.#show();
  }

  /* Go to the next change, or to the one before: through one table, then through the one next to it. */
  next(by = 1) {
    const grids = [...this.querySelectorAll("askew-grid")];
    const changed = grids.filter((grid) => grid.isChanged);
    const here = changed.find((grid) => grid === this.#stepped) ?? changed[0] ?? grids[0];
    const at = changed.indexOf(here);
    this.#stepped = here?.endsAt(by) ? changed[(at + by + changed.length) % changed.length] : here;
    this.#stepped?.next(by);
  }

  /* From the single table to two tables next to each other, from pair to pair, and back. */
  turn() {
    const held = this.contains(document.activeElement);
    this.#pair += 1;
    if (this.#pair === this.#pairs.length) this.#pair = this.#single ? -1 : 0;
    this.#show();
    if (held) this.focusTable();
  }

  focusTable() {
    this.querySelector(".sheet")?.focus();
  }

  /* Whether one table can show all variants: not after rows and columns were exchanged. */
  get #single() {
    return this.#data.merged?.state !== null;
  }

  get sideBySide() {
    return this.#pair >= 0;
  }

  #show() {
    this.toggleAttribute("data-side-by-side", this.sideBySide);
    if (this.sideBySide) this.#showPair(this.#pairs[this.#pair]);
    else this.#showSingle();
  }

  #showSingle() {
    const { table, variants, merged, marks } = this.#data;
    const grid = element("askew-grid");
    this.replaceChildren(grid);
    const options = { label: t("Table with the changes"), marks, tools: [this.#tool(t("Two tables"))] };
    if (merged) {
      merged.unfold();
      grid.compare(table, [], { ...options, variants: merged });
    } else grid.compare(table, variants[0].operations ?? [], options);
  }

  /** @param {readonly Variant[]} pair */
  #showPair(pair) {
    const { table, marks } = this.#data;
    const grids = pair.map(() => element("askew-grid"));
    this.replaceChildren(...pair.map(({ letter, name }, at) => {
      const title = element("h2", { textContent: name });
      if (letter && !name.endsWith(letter)) title.prepend(element("b", { className: "who", textContent: letter, ariaHidden: "true" }), " ");
      return element("section", { className: "variant" }, title, grids[at]);
    }));
    const tools = this.#pairs.length > 1 || this.#single ? [this.#tool(this.#single && pair === this.#pairs.at(-1) ? t("One table") : t("Next pair"))] : [];
    pair.forEach(({ name, operations = [], cells = [] }, at) => {
      grids[at].compare(table, operations, { label: t`${name}, table`, whole: true, marks, cells, tools: at ? [] : tools });
    });
    grids[0].scrollWith(grids[1]);
  }

  /** @param {string} label @returns {Tool} */
  #tool(label) {
    return { name: "layout", label, keys: "V", act: () => this.#pressed() };
  }

  /* The button is painted anew: the focus goes to the new one. */
  #pressed() {
    this.turn();
    this.querySelector("[data-tool=layout]")?.focus();
  }
}

customElements.define("askew-comparison", AskewComparison);
