/* A list of what can be done to the columns of a table, for the panel of a kind that changes columns.

   `ColumnList` is what the elements of those kinds have in common. It is an ARIA grid of lines: the line where people
   are is open and shows its choices, the others are one line each. What the lines are and what a choice does, a kind's
   own element says (`lines`, `take`, ...); edits go through the table's element and are undone there.

   Keys: up and down to another line, left and right to its choices; a digit takes that choice and goes on to the next
   line, 0 says that none fits; Space takes or toggles, Del takes back or turns down; Enter takes a choice and else
   submits; Esc leaves the list. Letters belong to the list, as they do to the table. */

import { send } from "./api.js";
import { element } from "./elements.js";
import { t } from "./language.js";
import { LineEditor } from "./line-editor.js";
import { reasonsOf, reveal } from "./line-parts.js";
import { equal, withIds } from "./tables.js";

const STATES = { taken: t("taken"), rejected: t("rejected") };
const AGAIN = [1, 2, 4, 8, 15, 30]; // seconds until suggestions that are still being made are asked for once more

export class ColumnList extends HTMLElement {
  page = /** @type {PagePart<AnnotatePage>} */ (/** @type {unknown} */ (null));
  form = /** @type {PagePart<HTMLFormElement>} */ (/** @type {unknown} */ (null));
  table = /** @type {WholeTable} */ (/** @type {unknown} */ (null));
  /** @type {any} */
  suggestions = null;
  /** @type {{line: string | null, choice: number}} */
  here = { line: null, choice: -1 };
  #waiting = "";
  #assignment = "";
  /** @type {number | null} */
  #timer = null;
  #told = ""; // the sentence under the list
  /** @type {readonly ColumnLine[]} */
  #drawn = []; // the lines as they are on the page
  lineList = element("div", { className: "lines", role: "grid" });
  #note = element("p", { className: "soft small", role: "status" });
  /* What a button beside that sentence chooses: the checkbox of the form with this name. */
  adviceField = "";
  editor = new LineEditor(this);

  connectedCallback() {
    if (this.page) return;
    this.page = this.closest("askew-annotate");
    this.form = this.closest("form");
    this.replaceChildren(this.lineList, this.#note);
    this.lineList.setAttribute("aria-label", this.dataset.label ?? t("Columns"));
    this.lineList.addEventListener("keydown", (event) => this.#onKey(event));
    this.lineList.addEventListener("click", (event) => this.#onClick(event));
    this.lineList.addEventListener("dblclick", (event) => this.#onDoubleClick(event));
    this.addEventListener("item-shown", ({ detail }) => this.#onItem(detail.assignment));
    this.addEventListener("item-suggested", ({ detail }) => this.#onSuggested(detail));
    this.page.addEventListener("grid-change", ({ detail }) => !detail.typing && this.changed());
    this.page.addEventListener("grid-here", () => this.point());
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
  }

  get grid() {
    return this.page.grid;
  }

  /* [{id, name, now?, note?, column?, state?, choices: [{text, by?, why?, state?}], details?: [{text, look?}], reasons?: [text], act?, own?, key?}]: `now` is
     what became of it, `column` the id of a column of the table that the line is about, `act` [label, name] of the button
     that does what Space does, `own` a label for the button of its own (F2), `key` the digit that acts on it. */
  /** @returns {readonly ColumnLine[]} */
  lines() { return []; }

  /* A choice of a line was taken. True goes on to the next line when a digit took it. */
  /** @param {ColumnLine} _line @param {ColumnChoice} _choice @returns {boolean} */
  take(_line, _choice) { return false; }

  /* Whether a choice is taken already: Enter on it submits. */
  /** @param {ColumnLine} _line @param {ColumnChoice} _choice @returns {boolean} */
  taken(_line, _choice) { return false; }

  /* None of a line's choices fits. */
  /** @param {ColumnLine} _line */
  none(_line) {}

  /* One choice is turned down, or is not any more. */
  /** @param {ColumnLine} _line @param {ColumnChoice} _choice */
  reject(_line, _choice) {}

  /* Space on the line itself. */
  /** @param {ColumnLine} _line */
  toggle(_line) {}

  /* A digit where the current line has no choices. */
  /** @param {number} _at */
  digit(_at) {}

  /* The line itself was clicked; `again` if it was the current one already. */
  /** @param {ColumnLine} _line @param {boolean} _again */
  pressed(_line, _again) {}

  /* Del on the line itself. */
  /** @param {ColumnLine} _line */
  clear(_line) {}

  /* F2, or the line's own button: by default the line's text field. */
  /** @param {ColumnLine} line @param {ColumnChoice | null} choice */
  own(line, choice) {
    this.editor.edit(line, this.text(line, choice), choice);
  }

  /* The text that the line's field begins with, null where there is none; and what becomes of the text. */
  /** @param {ColumnLine} _line @param {ColumnChoice | null} _choice @returns {string | null} */
  text(_line, _choice) { return null; }

  /** @param {ColumnLine} _line @param {string} _text @param {ColumnChoice | null} _choice */
  keep(_line, _text, _choice) {}

  /* Whether an item may begin at this line: the first such line is opened when the suggestions are there. */
  /** @param {ColumnLine} line */
  opens(line) {
    return Boolean(line.choices?.length);
  }

  /* A sentence under the list once all suggestions are there, "" for none. */
  /** @param {readonly ColumnLine[]} _lines @returns {string} */
  advice(_lines) { return ""; }

  /* Another item is on screen: what belonged to the last one goes. */
  begin() {}

  /* Suggestions for the item have come, or will not; `before` are the ones that were there before. */
  /** @param {unknown} _before */
  suggested(_before) {}

  /* What the keys do, as the page's list of keys shows it: [[keys], words]. */
  /** @returns {KeyRow[]} */
  keyRows() { return []; }

  get keyTable() {
    const rows = [
      [["↑", "↓"], t("previous or next line")],
      ...this.keyRows(),
      [["Ctrl Z", "Ctrl Y"], t("undo, redo")],
      [["Enter"], t("submit; on a suggestion that is not taken yet, accept it")],
      [["Esc"], t("leave the list")],
    ];
    return { title: t`In the list: ${this.dataset.label ?? "columns"}`, rows };
  }

  /* Called when an item is filled in, before its operations are. */
  /** @param {Table} table */
  shown(table) {
    this.table = withIds(table);
    this.suggestions = null;
    this.here = { line: null, choice: -1 };
    clearTimeout(this.#timer);
    this.editor.close();
    this.begin();
    this.draw();
  }

  /** @param {Assignment} assignment */
  #onItem(assignment) {
    this.#assignment = assignment.id;
    const given = assignment.shows.suggestions ?? null; // in practice they come with the item
    this.#waiting = !given && assignment.suggests === "before" && !this.page.practice ? t("Loading suggestions…") : "";
    this.suggestions = given;
    this.toggleAttribute("data-settled", !this.#waiting); // until then there is room for them
    this.suggested(null);
    this.#openFirst();
    this.draw();
  }

  #openFirst() {
    const first = this.page.begun.has ? null : this.lines().find((line) => this.opens(line));
    if (first) this.here = { line: first.id, choice: -1 };
  }

  /** @param {{suggestions: any, reason?: string}} reply @param {number} tries */
  #onSuggested({ suggestions, reason }, tries = 0) {
    const before = this.suggestions;
    const digits = this.#digits;
    this.suggestions = suggestions ?? before;
    const missing = suggestions?.missing ?? [];
    this.#waiting = [reason, ...missing].filter(Boolean).join(" ");
    this.suggested(before);
    this.#openFirst();
    this.draw();
    if (!equal(digits, this.#digits)) this.page.commits?.rekeyed();
    this.dataset.settled = "";
    if (suggestions?.preparing && tries < AGAIN.length) {
      this.#timer = setTimeout(() => this.#askAgain(this.#assignment, tries + 1), AGAIN[tries] * 1000);
    }
  }

  /* What the digits stand for: the choices of the current line, or the lines themselves. */
  get #digits() {
    const { lines, line } = this.#current();
    return line?.choices?.length ? line.choices.map(({ text }) => text) : lines.filter(({ key }) => key).map(({ id }) => id);
  }

  /** @param {string} id @param {number} tries */
  async #askAgain(id, tries) {
    try {
      const answer = await send("GET", `${this.page.dataset.api}assignments/${id}/suggestions/`);
      if (id === this.#assignment) this.#onSuggested(answer, tries);
    } catch { /* they are a help, not a need */ }
  }

  /* The operations are others than before. */
  changed() {
    if (this.table) this.draw();
  }

  draw() {
    if (this.editor.opened) return;
    const focused = this.lineList.contains(document.activeElement);
    const lines = (this.#drawn = this.lines());
    if (!lines.some(({ id }) => id === this.here.line)) this.here = { line: lines[0]?.id ?? null, choice: -1 };
    const current = lines.find(({ id }) => id === this.here.line);
    this.here.choice = Math.min(this.here.choice, (current?.choices?.length ?? 0) - 1);
    const unfolded = new Set([...this.lineList.querySelectorAll("details[open]")].map((part) => part.closest(".line").dataset.line));
    this.lineList.replaceChildren(...lines.map((line) => this.#line(line, line === current)));
    for (const part of this.lineList.querySelectorAll("details")) part.open = unfolded.has(part.closest(".line").dataset.line);
    const complete = this.suggestions && !this.suggestions.preparing;
    const advice = complete && lines.length ? this.advice(lines) : "";
    const words = [this.#waiting, complete && !lines.length ? this.dataset.none ?? "" : advice].filter(Boolean).join(" ");
    this.#tell(words, advice && this.adviceField);
    const waited = lines.length > 0 && document.activeElement === this.#note;
    this.#note.hidden = !words && document.activeElement !== this.#note;
    if (focused || waited) this.focus();
    this.point();
  }

  /* Write a sentence under the list, with a button that makes the choice it names wherever that is on the page. */
  /** @param {string} words @param {string} field */
  #tell(words, field) {
    if (this.#told === words) return;
    this.#told = words;
    this.#note.replaceChildren(words);
    const box = field && this.form.querySelector(`input[type=checkbox][name="${field}"]`);
    if (!box) return;
    const button = element("button", { type: "button", className: "small", textContent: box.dataset.label });
    button.addEventListener("click", () => {
      if (!box.checked) box.click();
      box.focus();
    });
    this.#note.append(" ", button);
  }

  /** @param {ColumnLine} line @param {boolean} open */
  #line(line, open) {
    const dataset = { line: line.id, ...(line.state ? { state: line.state } : {}) };
    const row = element("div", { className: open ? "line open" : "line", role: "row", dataset }, this.#head(line, open));
    if (!open) return row;
    (line.choices ?? []).forEach((choice, index) => row.append(this.#choice(choice, index)));
    if (line.details?.length || line.own || line.choices?.length) row.append(this.#foot(line));
    return row;
  }

  /** @param {ColumnLine} line @param {boolean} open */
  #head(line, open) {
    const head = cell("head", open && this.here.choice < 0);
    const text = line.act ? head.appendChild(element("div")) : head;
    if (line.key) text.append(element("kbd", { ariaHidden: "true", textContent: line.key }), " ");
    text.append(name(line.name, line.now !== undefined && line.now !== null));
    if (line.now !== undefined && line.now !== null) {
      text.append(element("span", { className: "arrow", textContent: " → ", ariaHidden: "true" }), element("span", { className: "sr", textContent: t("becomes ") }));
      text.append(element("ins", { textContent: line.now, dir: "auto" }));
    }
    if (line.note) text.append(" ", element("small", { textContent: line.note }));
    if (line.act) {
      const [label, called] = line.act;
      head.append(" ", element("button", { type: "button", className: "small", tabIndex: -1, textContent: label, ariaLabel: called, dataset: { does: "act" } }));
    }
    return head;
  }

  /** @param {ColumnChoice} choice @param {number} index */
  #choice(choice, index) {
    const place = cell("choice", this.here.choice === index, { choice: index, ...(choice.state ? { state: choice.state } : {}) });
    if (index < 9) place.append(element("kbd", { ariaHidden: "true", textContent: String(index + 1) }));
    place.append(element("span", { className: "text", textContent: choice.text, dir: "auto" }));
    if (choice.state) place.append(element("span", { className: "sr", textContent: ` (${STATES[choice.state]})` }));
    if (choice.rejectable) {
      const [textContent, ariaLabel, title] = choice.state === "rejected"
        ? ["↺", t`Undo rejection of “${choice.text}”`, t("Undo rejection")]
        : ["✕", t`Reject “${choice.text}”`, t("Reject")];
      place.append(element("button", { type: "button", className: "quiet small", tabIndex: -1, textContent, ariaLabel, title, dataset: { reject: index } }));
    }
    const why = [choice.by, choice.why].filter(Boolean).join(": ");
    if (why) place.append(element("small", { textContent: why, dir: "auto" }));
    return place;
  }

  /** @param {ColumnLine} line */
  #foot(line) {
    const foot = element("div", { className: "foot", role: "gridcell" });
    for (const { text, look } of line.details ?? []) foot.append(element("p", { textContent: text, className: look ? "look" : "", dir: "auto" }));
    if (line.reasons?.length) foot.append(reasonsOf(line));
    if (line.own) foot.append(this.#button("own", line.own, "F2"));
    if (line.noneLabel && line.choices?.length) foot.append(this.#button("none", line.noneLabel, "0"));
    return foot;
  }

  /** @param {string} does @param {string} label @param {string} key */
  #button(does, label, key) {
    return element("button", { type: "button", className: "small", tabIndex: -1, textContent: label, title: t`Key: ${key}`, dataset: { does } });
  }

  /* Mark the column that the current line is about in the head of the table. */
  point() {
    if (!this.table || !this.grid?.edits) return;
    const column = this.#drawn.find(({ id }) => id === this.here.line)?.column ?? null;
    for (const th of this.grid.querySelectorAll("thead th.about")) th.classList.remove("about");
    const th = column && this.grid.querySelector(`thead th[data-column="${CSS.escape(column)}"]`);
    if (!th) return;
    th.classList.add("about");
    if (this.lineList.contains(document.activeElement)) reveal(th);
  }

  focus() {
    const place = this.lineList.querySelector("[tabindex='0']");
    if (!place) {
      this.#note.hidden = false; // what is waited for has the focus until it is there
      this.#note.tabIndex = -1;
      this.#note.focus({ preventScroll: true });
      return;
    }
    const before = scrollY;
    place.focus({ preventScroll: true });
    place.closest(".line").scrollIntoView({ block: "nearest" });
    place.scrollIntoView({ block: "nearest" });
    if (!this.page.begun.has) scrollTo({ top: before }); // an item begins with its question, also on a phone
  }

  /** @param {string} line @param {number} choice */
  go(line, choice = -1) {
    const focused = this.lineList.contains(document.activeElement);
    this.here = { line, choice };
    this.draw();
    if (!focused) this.focus(); // a list that had the focus keeps it
  }

  #current() {
    const lines = this.#drawn;
    const at = lines.findIndex(({ id }) => id === this.here.line);
    return { lines, at, line: lines[at] };
  }

  /** @param {number} by */
  move(by) {
    const { lines, at } = this.#current();
    const next = lines[Math.min(Math.max(at + by, 0), lines.length - 1)];
    if (next) this.go(next.id);
  }

  /** @param {KeyPress} event */
  #onKey(event) {
    if (this.editor.opened || event.isComposing || event.altKey) return;
    const { line } = this.#current();
    if (!line) return;
    const control = event.ctrlKey || event.metaKey;
    const act = control ? this.#withControl(event) : this.#alone(event.key, line);
    if (act) {
      event.preventDefault();
      event.stopPropagation();
      if ((!event.repeat || event.key.startsWith("Arrow")) && !this.page.commits?.ignores(event.key)) act();
    } else if (event.key.length === 1 && !control) {
      event.stopPropagation();
      if (this.text(line, null) !== null) this.editor.edit(line, ""); // the key itself lands in the field
    }
  }

  /** @param {KeyPress} event */
  #withControl(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "z") return () => (event.shiftKey ? this.grid.redo() : this.grid.undo());
    if (key === "y") return () => this.grid.redo();
    if (key === "Enter") return () => this.emit("grid-submit");
    return null;
  }

  /** @param {string} key @param {ColumnLine} line */
  #alone(key, line) {
    const { choice } = this.here;
    const choices = line.choices ?? [];
    if (/^[1-9]$/.test(key)) {
      const at = Number(key) - 1;
      if (!choices.length) return () => this.digit(at);
      return () => choices[at] && this.take(line, choices[at]) && this.move(1);
    }
    switch (key) {
      case "ArrowUp": return () => this.move(-1);
      case "ArrowDown": return () => this.move(1);
      case "PageUp": return () => this.move(-8);
      case "PageDown": return () => this.move(8);
      case "Home": return () => this.move(-Infinity);
      case "End": return () => this.move(Infinity);
      case "ArrowRight": return () => this.go(line.id, Math.min(choice + 1, choices.length - 1));
      case "ArrowLeft": return () => this.go(line.id, Math.max(choice - 1, -1));
      case "0": return choices.length ? () => { this.none(line); this.move(1); } : null;
      case " ": return () => (choice < 0 ? this.toggle(line) : this.take(line, choices[choice]));
      case "Enter": return choice < 0 || this.taken(line, choices[choice]) ? () => this.emit("grid-submit") : () => this.take(line, choices[choice]);
      case "Delete":
      case "Backspace": return () => (choice < 0 ? this.clear(line) : this.reject(line, choices[choice]));
      case "F2": return line.own ? () => this.own(line, choices[choice] ?? null) : null;
      case "Escape": return () => this.emit("grid-leave");
      default: return null;
    }
  }

  /** @param {Press} event */
  #onClick(event) {
    const row = event.target.closest("[data-line]");
    const { lines } = this.#current();
    const line = lines.find(({ id }) => id === row?.dataset.line);
    if (!line || event.target.closest("input, details")) return;
    const { reject, does } = event.target.closest("button")?.dataset ?? {};
    const choice = event.target.closest("[data-choice]")?.dataset.choice;
    const again = this.here.line === line.id;
    if (reject !== undefined) this.reject(line, (line.choices ?? [])[Number(reject)]);
    else if (does === "none") this.none(line);
    else if (does === "own") this.own(line, null);
    else if (does === "act") {
      this.go(line.id);
      this.toggle(line);
    }
    else if (choice !== undefined) {
      this.go(line.id, Number(choice));
      this.take(line, (line.choices ?? [])[Number(choice)]);
    } else {
      this.go(line.id);
      if (event.target.closest(".head")) this.pressed(line, again);
    }
  }

  /** @param {Press} event */
  #onDoubleClick(event) {
    const { line } = this.#current();
    if (line?.own && event.target.closest(".open > .head")) this.own(line, null);
  }

  /** @param {string} kind */
  emit(kind) {
    this.dispatchEvent(new CustomEvent(kind, { bubbles: true }));
  }
}

/** Keep a JSON value in a hidden field of the form, and tell the page. @param {HTMLFormElement} form @param {string} name @param {unknown} value */
export function store(form, name, value) {
  const place = /** @type {Field} */ (form.querySelector(`[data-field="${name}"]`));
  place.value = value;
  place.dispatchEvent(new Event("change", { bubbles: true }));
}

/** @param {HTMLFormElement} form @param {string} name */
export const stored = (form, name) => /** @type {Field} */ (form.querySelector(`[data-field="${name}"]`)).value ?? [];

/* Hidden fields hold JSON from the start, a list of entries; `inWords(entry)` puts one in words. */
/** @param {HTMLFormElement} form @param {(entry: any) => string} inWords */
export function prepareFields(form, inWords) {
  for (const place of /** @type {NodeListOf<Field>} */ (/** @type {NodeList} */ (form.querySelectorAll("span[data-kind=json]")))) {
    place.blank = [];
    place.value ??= [];
    place.inWords = (entries) => entries.map(inWords);
  }
}

/** @param {string} text @param {boolean} changed */
function name(text, changed) {
  if (!text.trim()) return element("em", { className: "soft", textContent: t("unnamed") });
  return element(changed ? "del" : "span", { className: "name", textContent: text, dir: "auto" });
}

/** @param {string} className @param {boolean} current @param {Record<string, unknown>} dataset */
function cell(className, current, dataset = {}) {
  return element("div", { className, role: "gridcell", tabIndex: current ? 0 : -1, dataset });
}
