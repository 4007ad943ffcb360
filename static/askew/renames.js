/* <askew-renames>: the columns of a table with suggestions for their names. A column is renamed through the table's
   element; which suggestions were taken and turned down stands in the fields `taken` and `rejected`. */

import { counted, t } from "./language.js";
import { ColumnList, prepareFields, store, stored } from "./columns.js";
import { columnName } from "./words.js";

class AskewRenames extends ColumnList {
  connectedCallback() {
    if (!this.page) prepareFields(this.closest("form"), ([column, text]) => `${columnName(this.table, column)}: ${text}`);
    super.connectedCallback();
  }

  /** @returns {ColumnLine[]} */
  lines() {
    if (!this.table) return [];
    const names = this.#names();
    const rejected = new Set(this.#stored("rejected").map(keyOf));
    return this.table.column_ids.map((id, place) => {
      const old = this.table.header[place];
      const now = names.get(id);
      /** @type {readonly SuggestedName[]} */
      const found = this.suggestions?.columns?.[id] ?? [];
      /** @type {ColumnChoice[]} */
      const choices = found.map((one) => ({
        ...one,
        state: now === one.text ? "taken" : rejected.has(keyOf([id, one.text, one.source])) ? "rejected" : "",
        rejectable: now !== one.text,
      }));
      const left = choices.filter(({ state }) => state !== "rejected").length;
      return {
        id, column: id, name: old, now, choices, state: now === undefined ? "" : "changed",
        note: now === undefined ? this.#note(old, choices.length, left) : "",
        own: t("Another name"), noneLabel: t("None of these fits"),
      };
    });
  }

  /* What comes later is put behind what is there: nobody's digit may mean another name all of a sudden. */
  /** @param {{ columns?: Record<string, readonly SuggestedName[]> } | null} before */
  suggested(before) {
    const names = before?.columns;
    if (!names || !this.suggestions?.columns) return;
    const columns = Object.fromEntries(Object.entries(/** @type {Record<string, readonly SuggestedName[]>} */ (this.suggestions.columns)).map(([id, found]) => {
      const shown = names[id] ?? [];
      const known = new Set(shown.map(({ text }) => text));
      return [id, [...shown, ...found.filter(({ text }) => !known.has(text))]];
    }));
    this.suggestions = { ...this.suggestions, columns };
  }

  /** @param {string} old @param {number} all @param {number} left */
  #note(old, all, left) {
    if (!this.suggestions || !old.trim()) return "";
    if (!all) return t("no suggestions");
    return left ? counted(left, "{0} suggestion", "{0} suggestions") : t("none fits");
  }

  /** @returns {KeyRow[]} */
  keyRows() {
    return [
      [["1 – 9"], t("accept that suggestion, go to the next column")],
      [["0"], t("none of the suggestions fits")],
      [[t("any letter"), "F2"], t("type another name")],
      [["Del"], t("restore the old name")],
      [["→", "←"], t("to the suggestions and back; Space accepts one, F2 edits it, Del rejects it")],
    ];
  }

  /** @param {ColumnLine} line @param {ColumnChoice} choice */
  taken(line, choice) {
    return choice.state === "taken";
  }

  /** @param {ColumnLine} line @param {ColumnChoice & SuggestedName} choice */
  take(line, choice) {
    const taken = this.#stored("taken").filter(([column]) => column !== line.id);
    this.#store("rejected", this.#stored("rejected").filter((one) => keyOf(one) !== keyOf([line.id, choice.text, choice.source])));
    this.#rename(line.id, choice.text, [...taken, [line.id, choice.text, choice.source]]);
    return true;
  }

  /** @param {ColumnLine} line */
  none(line) {
    const others = this.#stored("rejected").filter(([column]) => column !== line.id);
    const down = /** @type {(ColumnChoice & SuggestedName)[]} */ (line.choices ?? []).filter(({ state }) => state !== "taken").map(({ text, source }) => [line.id, text, source]);
    this.#store("rejected", [...others, ...down]);
    this.grid.say(t`None of the suggestions for ${line.name} fits.`);
    this.draw();
  }

  /** @param {ColumnLine} line @param {ColumnChoice & SuggestedName} choice */
  reject(line, choice) {
    if (choice.state === "taken") return this.clear(line);
    const one = [line.id, choice.text, choice.source];
    const others = this.#stored("rejected").filter((other) => keyOf(other) !== keyOf(one));
    const back = choice.state === "rejected";
    this.#store("rejected", back ? others : [...others, one]);
    this.grid.say(back ? t`${choice.text}: no longer rejected.` : t`${choice.text}: rejected.`);
    this.draw();
  }

  /** @param {ColumnLine} line */
  clear(line) {
    if (line.now === undefined) return;
    this.#rename(line.id, line.name, this.#stored("taken").filter(([column]) => column !== line.id));
  }

  /** @param {ColumnLine} line */
  toggle(line) {
    if (line.now !== undefined) this.clear(line);
  }

  /** @param {ColumnLine} line @param {ColumnChoice | null} choice */
  text(line, choice) {
    return choice?.text ?? line.now ?? line.name;
  }

  /* A name that began as a suggestion stays one of that suggester's, edited; without one it is the person's own. */
  /** @param {ColumnLine} line @param {string} text @param {(ColumnChoice & SuggestedName) | null} choice */
  keep(line, text, choice) {
    const others = this.#stored("taken").filter(([column]) => column !== line.id);
    const before = line.now === undefined ? null : this.#stored("taken").find(([column]) => column === line.id);
    const began = choice ? [line.id, choice.text, choice.source] : before;
    this.#rename(line.id, text, text !== line.name && began ? [...others, began] : others);
  }

  /** @param {string} column @param {string} text @param {readonly (readonly string[])[]} taken */
  #rename(column, text, taken) {
    const old = this.#names().get(column) ?? this.table.header[this.table.column_ids.indexOf(column)];
    const rejected = this.#stored("rejected");
    const known = new Set(taken.map(keyOf));
    this.#store("rejected", rejected.filter((one) => !known.has(keyOf(one))));
    this.#store("taken", taken);
    if (text !== old) this.grid.act([{ op: "rename_header", column, old, new: text }]); // which draws the list again
    else this.draw();
  }

  /** @param {"taken" | "rejected"} field @returns {SuggesterName[]} */
  #stored(field) {
    return stored(this.form, field);
  }

  /** @param {string} field @param {unknown} value */
  #store(field, value) {
    store(this.form, field, value);
  }

  /* Column id -> its new name, of those that have one. */
  #names() {
    const operations = this.grid?.edits ? this.grid.operations : [];
    return new Map(operations.flatMap((operation) => (operation.op === "rename_header" ? [[operation.column, operation.new]] : [])));
  }
}

/** @param {unknown} one */
const keyOf = (one) => JSON.stringify(one);

customElements.define("askew-renames", AskewRenames);
