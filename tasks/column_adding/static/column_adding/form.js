/* <askew-adding>: related tables with the columns they could give. A digit shows a column in the table, at the place that
   was drawn for it, and the list asks whether it fits: submitting keeps it, 0 or its digit removes it. Below the table its
   name, its place and every cell can be changed. Where it comes from stands in the field `provenance`. */

import { t } from "../askew/language.js";
import { ColumnList, prepareFields, store, stored } from "../askew/columns.js";
import { element as make } from "../askew/elements.js";
import { columnName } from "../askew/words.js";

const ROWS = 40; // cells that are shown at once

class AskewAdding extends ColumnList {
  #added = make("div", { className: "added" });

  connectedCallback() {
    const first = !this.page;
    if (first) prepareFields(this.closest("form"), (entry) => this.#originInWords(entry));
    super.connectedCallback();
    if (!first) return;
    this.page.querySelector(".subject").append(this.#added); // beside the table, where there is room
    this.#added.addEventListener("change", ({ target }) => this.#onChange(target));
    this.#added.addEventListener("keydown", (event) => this.#onFieldKey(event));
  }

  lines() {
    return (this.suggestions?.tables ?? []).map((/** @type {RelatedTable} */ table) => ({
      id: table.digest,
      name: table.title,
      note: t`${table.rows} of ${table.of} rows`,
      ...this.#asked(this.#columnsOf(table.digest).length),
      reasons: [
        table.why,
        t`Similarity score: ${table.score.toFixed(2)}`,
        t`Rows are matched by ${table.by[0]} and ${table.by[1]}: ${alignedInWords(table)}`,
      ],
      choices: table.columns.map((column) => {
        const { cells } = sentOf(column);
        const state = this.#columnOf(table.digest, column.column) ? "taken" : "";
        return { ...column, digest: table.digest, state, text: column.header, why: t`${column.filled} of ${table.of} rows: ${cells.filter((cell) => cell.trim()).slice(0, 4).join(" | ")}` };
      }),
    }));
  }

  /* What is asked about a table of which so many columns are shown, and the button that removes them. */
  /** @param {number} number */
  #asked(number) {
    if (!number) return { details: [{ text: t("Choose a column to preview it in the table.") }] };
    if (number === 1) return { details: [{ text: t("Does this column fit these rows? If so, submit.") }], noneLabel: t("No, remove it") };
    return { details: [{ text: t("Do these columns fit these rows? If so, submit.") }], noneLabel: t("No, remove them") };
  }

  /** @returns {KeyRow[]} */
  keyRows() {
    return [
      [["1 – 9"], t("preview that column, or remove it")],
      [["0"], t("remove the previewed columns of that table")],
      [["→", "←"], t("move to the columns of the table and back")],
    ];
  }

  begin() {
    this.#added.replaceChildren();
  }

  suggested() {
    this.#draw();
  }

  changed() {
    super.changed();
    this.#draw();
  }

  /** @param {ColumnLine} line @param {ColumnChoice & RelatedChoice} choice */
  taken(line, choice) {
    return Boolean(this.#columnOf(choice.digest, choice.column));
  }

  /** @param {ColumnLine} line @param {ColumnChoice & RelatedChoice} choice */
  take(line, choice) {
    const added = this.#columnOf(choice.digest, choice.column);
    if (added) {
      this.#remove(added);
      return false;
    }
    const { header, after, cells, digest, column, title } = sentOf(choice);
    const [id] = this.grid.freshIds(1);
    const place = after !== null && this.grid.edited.column_ids.includes(after) ? after : null;
    this.#keep([...this.#provenance(), [id, digest, column, title]]);
    this.grid.act([{ op: "insert_column", column: id, after: place, header, cells }]);
    return false;
  }

  /** @param {ColumnLine} line */
  none(line) {
    const ids = this.#columnsOf(line.id);
    if (!ids.length) return;
    this.#keep(this.#provenance().filter(([column]) => !ids.includes(column)));
    this.grid.change(this.grid.edits.without([], ids), t("Columns removed."));
  }

  /** @param {ColumnLine} line @param {ColumnChoice & RelatedChoice} choice */
  reject(line, choice) {
    const added = this.#columnOf(choice.digest, choice.column);
    if (added) this.#remove(added);
  }

  clear() {}

  /* A field that has the focus has not said yet what was written into it. */
  async settle() {
    const field = /** @type {HTMLElement} */ (document.activeElement);
    if (!this.#added.contains(field)) return "";
    field.blur();
    this.#draw();
    this.focus();
    return "";
  }

  /** @param {ColumnOrigin} origin */
  #originInWords([, digest, column, title]) {
    /** @type {RelatedTable | undefined} */
    const table = this.suggestions?.tables.find((/** @type {RelatedTable} */ one) => one.digest === digest);
    const header = table?.columns.find((one) => one.column === column)?.header ?? t`column ${column}`;
    return t`${header}, from ${title || t("a table without a title")}`;
  }

  /** @param {string} id */
  #remove(id) {
    const { edits } = this.grid;
    this.#keep(this.#provenance().filter(([column]) => column !== id));
    this.grid.change(edits.without([], [id]), t`${edits.columnName(id)} removed.`);
  }

  /* The new column that came from there, if it is in the table now. */
  /** @param {string} digest @param {number} column */
  #columnOf(digest, column) {
    if (!this.grid?.edits) return null;
    const found = this.#provenance().find(([id, table, source]) => table === digest && source === column && this.#operation(id));
    return found?.[0] ?? null;
  }

  /* The new columns that came from a table, of those in the table now. */
  /** @param {string} digest */
  #columnsOf(digest) {
    if (!this.grid?.edits) return [];
    return this.#provenance().filter(([id, table]) => table === digest && this.#operation(id)).map(([id]) => id);
  }

  /** @param {string} id @returns {InsertColumn | undefined} */
  #operation(id) {
    return /** @type {InsertColumn | undefined} */ (this.grid.operations.find((one) => one.op === "insert_column" && one.column === id));
  }

  /** @returns {ColumnOrigin[]} */
  #provenance() {
    return stored(this.form, "provenance");
  }

  /** @param {readonly ColumnOrigin[]} value */
  #keep(value) {
    store(this.form, "provenance", value);
  }

  // --- the columns that were added -------------------------------------------------------------------------------------

  #draw() {
    if (!this.grid?.edits || this.#added.contains(document.activeElement)) return;
    const open = new Set([...this.#added.querySelectorAll("details[open]")].map(({ dataset }) => dataset.column));
    const operations = this.grid.operations.filter((operation) => operation.op === "insert_column");
    this.#added.replaceChildren(...operations.map((operation) => this.#part(operation, open.has(operation.column))));
  }

  /** @param {InsertColumn} operation @param {boolean} open */
  #part({ column, header, after, cells }, open) {
    const field = make("input", { type: "text", value: header.replace(/\s+/g, " "), autocomplete: "off", maxLength: 2000, dir: "auto", dataset: { does: "name" } });
    const place = make("select", { dataset: { does: "place" } }, new Option(t("first"), "", after === null, after === null));
    for (const id of this.grid.edited.column_ids) {
      if (id !== column) place.append(new Option(t`after ${columnName(this.grid.edited, id)}`, id, id === after, id === after));
    }
    const empty = cells.filter((cell) => !cell.trim()).length;
    const summary = make("summary", { textContent: empty ? t`Cells: ${empty} of ${cells.length} rows are empty` : t`Cells: all ${cells.length} rows are filled` });
    const places = cells.map((_, at) => at).sort((one, other) => Number(Boolean(cells[one].trim())) - Number(Boolean(cells[other].trim())) || one - other);
    const items = places.slice(0, ROWS).map((at) => make(
      "li", {},
      make("span", { className: "soft small", textContent: t`Row ${at + 1}: ` }),
      make("span", { textContent: this.#about(at), dir: "auto" }),
      make("input", { type: "text", value: cells[at], ariaLabel: t`${header}, row ${at + 1}`, autocomplete: "off", maxLength: 2000, dir: "auto", dataset: { does: "cell", row: at } }),
    ));
    const details = make("details", { open, dataset: { column } }, summary, make("ol", { className: "cuts" }, ...items));
    if (places.length > ROWS) details.append(make("p", { className: "soft small", textContent: t`The first ${ROWS} are shown, empty cells first.` }));
    return make(
      "fieldset", { className: "tool", dataset: { column } },
      make("legend", { textContent: t`Added: ${header}`, dir: "auto" }),
      make("div", { className: "apply" }, labelled(t("Name"), field), labelled(t("Position"), place)),
      details,
    );
  }

  /* What a row is about: its first cells. */
  /** @param {number} row */
  #about(row) {
    return this.table.rows[row].filter((cell) => cell.trim()).slice(0, 2).join(" | ");
  }

  /** @param {PagePart<HTMLInputElement>} target */
  #onChange(target) {
    const column = target.closest("[data-column]")?.dataset.column;
    const operation = this.#operation(column);
    if (!operation) return;
    const { does, row } = target.dataset;
    const { edits } = this.grid;
    const place = edits.edited.column_ids.indexOf(column);
    if (does === "name" && target.value.trim()) {
      this.grid.act([{ op: "rename_header", column, old: edits.edited.header[place], new: target.value.trim() }]);
    } else if (does === "place") {
      this.grid.act([{ op: "move_column", column, after: target.value || null }]);
    } else if (does === "cell") {
      this.grid.act([{ op: "set_cell", row: this.table.row_ids[Number(row)], column, old: edits.edited.rows[Number(row)][place], new: target.value.trim() }]);
    }
  }

  /** @param {KeyPress} event */
  #onFieldKey(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape" || (event.key === "Enter" && event.target.matches("input"))) {
      event.preventDefault();
      event.stopPropagation();
      event.target.blur(); // which keeps what was written
      this.focus();
      this.#draw();
    }
  }
}

/** @param {{ sent: string }} column @returns {SentColumn} */
const sentOf = (column) => JSON.parse(column.sent);

/** @param {RelatedTable} table */
function alignedInWords({ aligned, rows }) {
  const pairs = aligned.map(([here, there]) => (here === there ? here : `${here} = ${there}`));
  return `${pairs.join("; ")}${rows > aligned.length ? "; …" : ""}`;
}

/** @param {string} words @param {HTMLElement} field */
function labelled(words, field) {
  return make("label", {}, make("span", { textContent: words }), field);
}

customElements.define("askew-adding", AskewAdding);
