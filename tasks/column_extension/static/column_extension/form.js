/* <askew-extension>: the columns of a table with ways to split them. A proposal is taken with its digit; the tool below
   splits in any other way: at a text, by a form, by a pattern or by hand. The server cuts the cells; rows that do not
   split are listed, and every cell can be written by hand before the split is made. */

import { counted, t } from "../askew/language.js";
import { Problem, send } from "../askew/api.js";
import { ColumnList } from "../askew/columns.js";
import { element as make } from "../askew/elements.js";
import { normalise } from "../askew/operations.js";

const PAUSE = 200; // ms after the last key
const ROWS = 40; // rows that are shown at once
const MOST_PARTS = 12;
const WAYS = [
  ["delimiter", t("At a delimiter"), t("Text between the parts"), t("such as , or –")],
  ["template", t("By a template"), t("Template of a cell, parts in braces"), "{City}, {Country}"],
  ["pattern", t("By a pattern"), t("Regular expression (RE2), parts in parentheses"), "(.+) \\((.+)\\)"],
  ["hand", t("By hand"), "", ""],
];

class AskewExtension extends ColumnList {
  #tool = make("fieldset", { className: "tool", hidden: true });
  #parts = /** @type {SplitTool} */ ({}); // set by #build
  #work = /** @type {SplitWork} */ (/** @type {unknown} */ (null)); // {column, name, cells, way, names, rows: [[part]], odd: Set of places}
  #asked = 0;
  /** @type {number | null} */
  #timer = null;
  /** @type {Promise<void> | null} */
  #cutting = null; // resolves when the last request for a split is answered

  connectedCallback() {
    const first = !this.page;
    super.connectedCallback();
    if (!first) return;
    this.page.querySelector(".subject").append(this.#tool); // beside the table, where there is room for its rows
    this.#build();
  }

  begin() {
    this.#closeTool();
  }

  lines() {
    if (!this.table) return [];
    return this.table.column_ids.map((id, place) => {
      const split = this.#splitOf(id);
      /** @type {readonly SplitProposal[]} */
      const proposals = this.suggestions?.columns?.[id] ?? [];
      const choices = proposals.map((one) => {
        const filled = one.splits === one.of ? t`all ${one.of}` : t`${one.splits} of ${one.of}`;
        const why = t`${one.words}, ${filled} filled rows. ${one.example_of} → ${one.example.join(" | ")}`;
        return { way: one.by, names: one.names, text: one.names.join(" | "), why };
      });
      return {
        id, column: id, name: this.table.header[place], choices,
        now: split ? split.into.map(({ header }) => header).join(" | ") : undefined,
        state: split ? "changed" : "",
        note: split || !choices.length ? "" : counted(choices.length, "{0} way to split", "{0} ways to split"),
        own: split ? t("Change split") : t("Split another way"),
      };
    });
  }

  /** @returns {KeyRow[]} */
  keyRows() {
    return [
      [["1 – 9"], t("split this way")],
      [["F2"], t("split another way, or change the split")],
      [["Del"], t("undo the split")],
    ];
  }

  /** @param {ColumnLine} line @param {ColumnChoice & SplitChoice} choice */
  take(line, choice) {
    this.#begin(line.id, choice.way, choice.names);
    this.#cut(() => {
      if (this.#work.odd.size) this.#openTool(".odd input");
      else if (numbered(this.#work)) this.#openTool(".names input"); // what is in the parts is for people to say
      else {
        this.#apply();
        this.move(1);
      }
    });
    return false;
  }

  /** @param {ColumnLine} line */
  own(line) {
    const split = this.#splitOf(line.id);
    this.#begin(line.id, { by: "delimiter", text: "", at: "every" }, []);
    if (split) {
      this.#work.way = { by: "hand", text: "" };
      this.#work.names = split.into.map(({ header }) => header);
      this.#work.rows = this.#work.cells.map((_, row) => split.into.map((part) => part.cells[row]));
    }
    this.#openTool(split ? ".names input" : "[name=way-text]");
  }

  /** @param {ColumnLine} line */
  clear(line) {
    if (!this.#splitOf(line.id)) return;
    this.grid.change(normalise(this.#others(line.id), this.table), t`Split of ${line.name} undone.`);
  }

  /** @param {string} column @returns {SplitColumn | undefined} */
  #splitOf(column) {
    const operations = this.grid?.edits ? this.grid.operations : [];
    return /** @type {SplitColumn | undefined} */ (operations.find((one) => one.op === "split_column" && one.column === column));
  }

  /** @param {string} column */
  #others(column) {
    return this.grid.operations.filter((one) => !(one.op === "split_column" && one.column === column));
  }

  // --- the work --------------------------------------------------------------------------------------------------------

  /** @param {string} column @param {SplitWay} way @param {readonly string[]} names */
  #begin(column, way, names) {
    const place = this.table.column_ids.indexOf(column);
    const cells = this.table.rows.map((row) => row[place]);
    this.#work = { column, name: this.table.header[place], cells, way, names: [...names], given: names.length > 0, rows: [], odd: new Set(), faults: new Map() };
  }

  async settle() {
    if (this.#timer) this.#rewayed();
    await this.#cutting;
    if (this.#tool.hidden) return "";
    if (!this.#tool.contains(document.activeElement)) this.#focusTool();
    return t`Finish or cancel the split of ${this.#work.name.trim() || t("a column without a name")}.`;
  }

  /* Have the server cut the cells in the way that is chosen, then go on. */
  /** @param {() => void} then */
  #cut(then) {
    this.#cutting = this.#ask(then);
  }

  /** @param {() => void} then */
  async #ask(then) {
    const work = this.#work;
    const asked = (this.#asked += 1);
    const question = { cells: work.cells, way: work.way, number: null, header: work.name };
    try {
      const { answer } = await send("POST", `${this.page.dataset.api}task-types/column_extension/work-out/`, { question });
      if (asked !== this.#asked || work !== this.#work) return;
      if (answer.problem) return this.#fault(answer.problem);
      if (!work.given || work.names.length !== answer.number) work.names = answer.names;
      work.odd = new Set(answer.unsplit);
      work.rows = work.cells.map((cell, row) => {
        const { parts } = answer.cuts[row];
        if (parts) return parts;
        const whole = Array(Math.max(answer.number, 2)).fill("");
        if (work.odd.has(row)) whole[0] = cell; // what did not split stands whole in the first
        return whole;
      });
      if (answer.number < 2) work.rows = [];
      this.#say(answer.number < 2 ? t("No cell can be split this way.") : this.#summary(answer.number));
      then();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (asked !== this.#asked || work !== this.#work) return;
      this.#fault(problem.message);
    }
  }

  /** @param {string} words */
  #fault(words) {
    this.#work.rows = [];
    this.#say(words);
    if (this.#tool.hidden) this.#openTool("[name=way-text]");
    else this.#draw();
  }

  /** @param {number} number */
  #summary(number) {
    const { cells, odd } = this.#work;
    const filled = cells.filter((cell) => cell.trim()).length;
    if (!odd.size) return t`All ${filled} filled rows split into ${number}.`;
    const fits = t`${filled - odd.size} of ${filled} filled rows split into ${number}.`;
    return `${fits} ${counted(odd.size, "{0} row does not: write its parts yourself, or leave everything in the first part.", "{0} rows do not: write their parts yourself, or leave everything in the first part.")}`;
  }

  #apply() {
    const { column, name, names, rows } = this.#work;
    const number = names.length;
    if (number < 2 || rows.length !== this.table.rows.length) {
      this.#say(t("Nothing to split yet."));
      return false;
    }
    const before = this.#splitOf(column)?.into ?? [];
    const ids = before.length === number ? before.map((part) => part.column) : this.grid.freshIds(number);
    const into = ids.map((id, part) => ({ column: id, header: names[part].trim(), cells: rows.map((row) => row[part].trim()) }));
    this.grid.change(normalise([...this.#others(column), { op: "split_column", column, into }], this.table), t`${name} split into ${names.join(" | ")}.`);
    this.#closeTool();
    this.draw();
    return true;
  }

  // --- the tool --------------------------------------------------------------------------------------------------------

  #build() {
    const { legend, how, text, at, number, status, names, rows, all, more } = (this.#parts = {
      legend: make("legend"),
      how: make("select", { name: "way" }),
      text: make("input", { type: "text", name: "way-text", autocomplete: "off", spellcheck: false, maxLength: 200 }),
      at: make("select", { name: "way-at" }),
      number: make("input", { type: "number", name: "way-number", min: "2", max: String(MOST_PARTS) }),
      status: make("p", { className: "soft small", role: "status" }),
      names: make("div", { className: "names" }),
      rows: make("ol", { className: "cuts" }),
      all: make("input", { type: "checkbox", name: "way-all" }),
      more: make("button", { type: "button", className: "quiet small", textContent: t("Show more rows") }),
    });
    how.append(...WAYS.map(([value, words]) => new Option(words, value)));
    at.append(new Option(t("at every position"), "every"), new Option(t("only the first"), "first"), new Option(t("only the last"), "last"));
    const row = make("div", { className: "apply" }, labelled(t("How"), how), labelled(t("Where"), at), labelled(t("Parts"), number), labelled("", text, "whole"));
    const apply = make("button", { type: "button", className: "primary" }, t("Split"), make("kbd", { ariaHidden: "true", textContent: t("Enter") }));
    const cancel = make("button", { type: "button" }, t("Cancel"), make("kbd", { ariaHidden: "true", textContent: t("Esc") }));
    const every = make("label", { className: "every" }, all, t(" Show all rows"));
    this.#tool.append(legend, row, status, names, every, rows, more, make("div", { className: "row" }, apply, cancel));
    how.addEventListener("change", () => this.#rewayed());
    at.addEventListener("change", () => this.#rewayed());
    number.addEventListener("change", () => this.#rewayed());
    text.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#rewayed(), PAUSE);
    });
    all.addEventListener("change", () => this.#draw());
    more.addEventListener("click", () => this.#drawRows(rows.childElementCount + ROWS));
    apply.addEventListener("click", () => this.#apply() && this.focus());
    cancel.addEventListener("click", () => this.#leave());
    names.addEventListener("input", ({ target }) => {
      this.#work.names[Number(target.dataset.part)] = target.value;
      this.#work.given = true;
    });
    rows.addEventListener("input", ({ target }) => { this.#work.rows[Number(target.dataset.row)][Number(target.dataset.part)] = target.value; });
    this.#tool.addEventListener("keydown", (event) => this.#onToolKey(event));
  }

  /** @param {KeyPress} event */
  #onToolKey(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") this.#leave();
    else if (event.key === "Enter" && event.target.matches("input")) {
      if (event.target === this.#parts.text && this.#stale()) this.#rewayed(() => this.#enter());
      else this.#enter();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #enter() {
    if (this.#apply()) this.focus();
  }

  #leave() {
    this.#closeTool();
    this.focus();
  }

  /** @param {string} [first] */
  #openTool(first) {
    const { legend, how, text, at, number } = this.#parts;
    const { way, name, names } = this.#work;
    legend.textContent = t`Split ${name.trim() || t("a column without a name")}`;
    how.value = way.by;
    text.value = way.text ?? "";
    at.value = way.at ?? "every";
    number.value = String(Math.max(2, names.length));
    this.#tool.hidden = false;
    this.#draw();
    this.#focusTool(first);
  }

  #focusTool(first = ".names input") {
    const field = /** @type {HTMLInputElement} */ (this.#tool.querySelector(first) ?? this.#parts.how);
    field.focus();
    if (field.closest(".names")) field.select();
    this.#tool.scrollIntoView({ block: "nearest" });
  }

  #closeTool() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#asked += 1;
    this.#work = /** @type {SplitWork} */ (/** @type {unknown} */ (null));
    this.#tool.hidden = true;
  }

  #stale() {
    const { way } = this.#work;
    return way.text !== this.#parts.text.value;
  }

  /* Another way was chosen. */
  /** @param {() => void} then */
  #rewayed(then = () => this.#draw()) {
    clearTimeout(this.#timer);
    this.#timer = null;
    const work = this.#work;
    if (!work) return;
    const { how, text, at, number } = this.#parts;
    const by = how.value;
    work.way = by === "delimiter" ? { by, text: text.value, at: at.value } : { by, text: text.value };
    if (by === "hand") {
      const size = Math.min(MOST_PARTS, Math.max(2, Number(number.value) || 2));
      const stem = work.name.trim() || "Part";
      work.names = Array.from({ length: size }, (_, part) => work.names[part] ?? `${stem} ${part + 1}`);
      work.rows = work.cells.map((cell, row) => Array.from({ length: size }, (_, part) => work.rows[row]?.[part] ?? (part ? "" : cell)));
      work.odd = new Set(work.cells.map((_, row) => row));
      this.#say(t("Write the parts of every row."));
      this.#draw();
    } else if (text.value) this.#cut(then);
    else this.#draw();
  }

  #draw() {
    const work = this.#work;
    if (!work) return;
    const { how, text, at, number, names, status, all } = this.#parts;
    const [, , label, placeholder] = /** @type {string[]} */ (WAYS.find(([value]) => value === how.value));
    text.closest("label").hidden = how.value === "hand";
    /** @type {Node} */ (text.closest("label").firstChild).textContent = label;
    text.placeholder = placeholder;
    at.closest("label").hidden = how.value !== "delimiter";
    number.closest("label").hidden = how.value !== "hand";
    if (!work.rows.length && !text.value && how.value !== "hand") status.textContent = "";
    const ready = work.rows.length === this.table.rows.length && work.names.length > 1;
    names.hidden = !ready;
    all.closest("label").hidden = !ready || how.value === "hand";
    if (ready && !names.contains(document.activeElement)) {
      names.replaceChildren(...work.names.map((value, part) => partField(value, t`Name of part ${part + 1}`, { part })));
    }
    this.#drawRows(ROWS);
  }

  /** @param {number} most */
  #drawRows(most) {
    const { rows: list, more, all, how } = this.#parts;
    const { rows, odd, cells, names } = this.#work;
    const shown = rows.length ? cells.map((_, row) => row).filter((row) => all.checked || how.value === "hand" || odd.has(row)) : [];
    list.replaceChildren(...shown.slice(0, most).map((row) => {
      const number = make("span", { className: "soft small", textContent: t`Row ${row + 1}: ` });
      const whole = make("div", {}, number, make("span", { textContent: cells[row] || t("(empty)"), dir: "auto" }));
      const fields = rows[row].map((value, part) => partField(value, t`Row ${row + 1}, ${names[part]}`, { row, part }));
      return make("li", { className: odd.has(row) ? "odd" : "" }, whole, make("div", { className: "names" }, ...fields));
    }));
    more.hidden = shown.length <= most;
  }

  /** @param {string} words */
  #say(words) {
    this.#parts.status.textContent = words;
    if (this.#tool.hidden) this.grid.say(words);
  }
}

/* Whether the parts are called by the old name and a number. */
/** @param {SplitWork} work */
function numbered({ name, names }) {
  const stem = name.trim() || "Part";
  return names.some((part, at) => part === `${stem} ${at + 1}`);
}

/** @param {string} words @param {HTMLElement} field @param {string} className */
function labelled(words, field, className = "") {
  return make("label", { className }, make("span", { textContent: words }), field);
}

/** @param {string} value @param {string} ariaLabel @param {Record<string, number>} dataset */
function partField(value, ariaLabel, dataset) {
  return make("input", { type: "text", value, ariaLabel, autocomplete: "off", maxLength: 2000, dir: "auto", dataset });
}

customElements.define("askew-extension", AskewExtension);
