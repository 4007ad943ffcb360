/* The field in which one cell is written, over the cell, with what is odd about the text said beside it at once. */

import { leaves } from "./focus.js";
import { reachOut } from "./cell-content.js";
import { element } from "./elements.js";

let numbers = 0;

export class Editor {
  /** @type {HTMLTextAreaElement} */
  #area;
  /** @type {HTMLElement} */
  #box;
  /** @type {HTMLElement} */
  #note;
  /** @type {string | null} */
  #opened;
  /** @type {boolean} */
  #typing;
  /** @type {{ text: string, operations: Operation[] } | null} */
  known = null; // what the text makes of the operations

  /* place: {row, column}; text to begin with; typing: the next key replaces it, and arrows keep the value and move on.
     handlers: judge(text) -> words or null, input(), keep({move, submit, tab}), cancel(). */
  /** @param {HTMLElement} cell @param {{ row: string, column: string }} place @param {EditorOptions} options */
  constructor(cell, place, { text, typing, label, judge, handlers }) {
    this.place = place;
    this.#typing = typing;
    this.judge = judge;
    this.handlers = handlers;
    numbers += 1;
    this.#note = element("div", { className: "hint", id: `askew-hint-${numbers}`, hidden: true });
    this.#area = element("textarea", { className: "editor", value: text, ariaLabel: label, rows: 1, spellcheck: false, dir: "auto" });
    this.#area.setAttribute("aria-describedby", this.#note.id);
    this.#opened = typing ? null : this.#area.value;
    this.#box = element("div", { className: "writing" }, this.#area, this.#note);
    this.#area.addEventListener("keydown", (event) => this.#onKey(event));
    this.#area.addEventListener("input", () => this.#onInput());
    this.#area.addEventListener("blur", (event) => leaves(event) && handlers.keep({}));
    cell.append(this.#box);
    this.cell = cell;
    reachOut(cell, true);
    this.#area.focus({ preventScroll: true });
    this.#area.setSelectionRange(this.#area.value.length, this.#area.value.length);
    this.#grow();
    for (const part of [cell, this.#box]) part.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  get text() {
    return this.#area.value;
  }

  /* Whether the text is what it was: then nothing has been written, whatever line ends the cell has. */
  get untouched() {
    return this.#opened !== null && this.#area.value === this.#opened;
  }

  /** @param {Node} target */
  contains(target) {
    return this.#box.contains(target);
  }

  close() {
    reachOut(this.cell, false);
    this.#box.remove();
  }

  #onInput() {
    this.#grow();
    const words = this.untouched ? null : this.judge(this.#area.value);
    this.#note.hidden = !words;
    if (words && this.#note.textContent !== words) this.#note.textContent = words;
    this.handlers.input(words);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    event.stopPropagation();
    if (event.isComposing || event.keyCode === 229) return;
    const { keep, cancel } = this.handlers;
    const control = event.ctrlKey || event.metaKey;
    const bare = !event.shiftKey && !event.altKey && !control;
    if (event.key === "Escape") cancel();
    else if (event.key === "F2") this.#typing = !this.#typing; // from here on arrows move in the text, or again over the table
    else if (event.key === "Enter" && event.altKey) this.#breakLine();
    else if (event.key === "Enter" && event.shiftKey) return;
    else if (event.key === "Enter") keep({ stay: true, submit: control });
    else if (event.key === "Tab") keep({ tab: event.shiftKey ? -1 : 1 });
    else if (this.#typing && bare && ARROWS[event.key]) keep({ move: ARROWS[event.key] });
    else return;
    event.preventDefault();
  }

  #breakLine() {
    this.#area.setRangeText("\n", this.#area.selectionStart, this.#area.selectionEnd, "end");
    this.#area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #grow() {
    this.#area.style.height = "auto";
    this.#area.style.height = `${this.#area.scrollHeight}px`;
  }
}

/** @type {Record<string, readonly [rows: number, columns: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
