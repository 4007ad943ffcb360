/* The response as the fields of the form have it: read, filled in, emptied, and what of it is missing. */

import { readAnswers, writeAnswers } from "./answers.js";
import { empty, lackOf } from "./conditions.js";

export class ResponseFields {
  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  collect() {
    return Object.fromEntries(this.page.fields.map((field) => [field.dataset.field, COLLECT[field.dataset.kind](field, this.page.grid)]));
  }

  blank() {
    return Object.fromEntries(this.page.fields.map((field) => [field.dataset.field, blankOf(field)]));
  }

  /** @param {Record<string, any>} data */
  fill(data) {
    let fits = true;
    const table = this.page.current.shows.table;
    for (const field of this.page.fields) {
      const value = data[field.dataset.field] ?? blankOf(field);
      FILL[field.dataset.kind]?.(field, value);
    }
    const groups = this.page.turns.committing();
    this.page.turns.again = groups.length > 1 && groups.every((field) => field.querySelector(":checked")) ? groups : [];
    if (table) {
      const operations = this.page.operationsField ? data[this.page.operationsField.dataset.field] ?? [] : [];
      const { grid: mode, shows } = this.page.current;
      const contract = this.page.requirements.contract();
      fits = this.page.grid.show(table, operations, {
        mode,
        cells: this.page.cellsField ? data[this.page.cellsField.dataset.field] ?? [] : [],
        marks: (this.page.lookback.home && this.page.cellsField ? data[this.page.cellsField.dataset.field] : shows.evidence?.cells) ?? [],
        allowed: contract?.allowed ?? null,
        limit: contract?.at_most ?? null,
        protected: contract?.protected ?? [],
      });
      this.page.form.querySelector("[data-hide-marked]")?.setAttribute("aria-pressed", "false");
    }
    return fits;
  }

  /** @param {Record<string, unknown>} data */
  envelope(data) {
    const { type, variant, version, base } = this.page.current;
    return { type, variant, version, base, data, ...(this.unsure ? { unsure: true } : {}) };
  }

  get unsure() {
    return this.page.bar.querySelector("[data-unsure]")?.getAttribute("aria-pressed") === "true";
  }

  /** @param {boolean} on */
  setUnsure(on) {
    this.page.bar.querySelector("[data-unsure]")?.setAttribute("aria-pressed", String(on));
  }

  operations() {
    return this.page.operationsField ? this.page.grid.operations : [];
  }

  waived() {
    return this.page.fields.some((field) => "waives" in field.dataset && COLLECT[field.dataset.kind](field, this.page.grid));
  }

  /* What fields still need: [field, sentence], in the order of the form. */
  /** @returns {[field: Field, sentence: string][]} */
  missing() {
    if (this.waived()) return [];
    const valueOf = (/** @type {Field} */ field) => COLLECT[field.dataset.kind](field, this.page.grid);
    const lacks = this.page.fields.map((field) => /** @type {[Field, string]} */ ([field, lackOf(field, this.page.fields, valueOf)]));
    return lacks.filter(([, sentence]) => sentence);
  }

  /* Whether a person has said something in a field. A list of choices that came without any has nothing to say. */
  /** @param {Field} field */
  isEntered(field) {
    const value = COLLECT[field.dataset.kind](field, this.page.grid);
    if (empty(value)) return field.localName === "askew-programs" && !field.asks;
    return field.dataset.kind !== "text" || value !== blankOf(field);
  }
}

// --- kinds of fields: how to read, write and empty them ------------------------------------------------------------

/** @param {HTMLElement} field */
export const inputOf = (field) => /** @type {HTMLInputElement & HTMLTextAreaElement} */ (field.matches("input, textarea") ? field : field.querySelector("input, textarea"));

/** @type {Record<string, (field: Field, grid: GridElement) => any>} */
export const COLLECT = {
  choice: (field) => field.querySelector("input:checked")?.value ?? "",
  flag: (field) => inputOf(field).checked,
  text: (field) => inputOf(field).value,
  lines: (field) => readAnswers(inputOf(field)),
  operations: (_, grid) => grid.operations,
  cells: (_, grid) => grid.cells,
  choices: (field) => [...field.querySelectorAll("input:checked, select")].map(({ value }) => value).filter(Boolean),
  numbers: (field) => filled([...field.querySelectorAll("input")].map(({ value }) => value)),
  json: (field) => field.value,
};

/** @param {string[]} texts */
const filled = (texts) => (texts.some((text) => text.trim()) ? texts : []);

/** @type {Record<string, (field: Field, value: any) => void>} */
const FILL = {
  choice: (field, value) => field.querySelectorAll("input").forEach((input) => { input.checked = input.value === String(value); }),
  flag: (field, value) => { inputOf(field).checked = value; },
  text: (field, value) => { inputOf(field).value = value; },
  numbers: (field, value) => field.querySelectorAll("input").forEach((input, place) => { input.value = value[place] ?? ""; }),
  lines: (field, value) => writeAnswers(inputOf(field), value),
  choices: (field, value) => {
    field.querySelectorAll("input").forEach((input) => { input.checked = value.includes(input.value); });
    field.querySelectorAll("select").forEach((select, place) => { select.value = value[place] ?? ""; });
  },
  json: (field, value) => { field.value = value; },
};

/** @type {Record<string, unknown>} */
const BLANK = { choice: "", choices: [], flag: false, text: "", lines: [], operations: [], cells: [], numbers: [], json: null };

/* A field that starts with something says so: the question that is to be reworded, for one. */
/** @param {Field} field */
export const blankOf = (field) => field.blank ?? BLANK[field.dataset.kind];
