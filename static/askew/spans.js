/* <askew-spans>: passages of a text, each with a label. Words are selected by pressing the first and the last one, by dragging,
   or with the arrow keys and Shift; a label, or its key, then marks them. The value is a list of [start, end, label], counted
   in Unicode code points as Python does. */

import { element } from "./elements.js";
import { t } from "./language.js";

/** @typedef {[start: number, end: number, label: string]} Span */

const WORD = /[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;
const HUE = 137; // degrees between the colours of two labels

class AskewSpans extends HTMLElement {
  #text = "";
  /** @type {{ start: number, end: number, part: HTMLElement }[]} */
  #words = [];
  /** @type {Span[]} */
  #spans = [];
  /** @type {[anchor: number, end: number] | null} */
  #selected = null;
  /** @type {number | null} */
  #pressed = null;

  connectedCallback() {
    const place = this.#place;
    place.addEventListener("pointerdown", ({ target }) => { this.#pressed = this.#wordAt(target); });
    place.addEventListener("pointerup", ({ target }) => this.#onPress(this.#wordAt(target)));
    place.addEventListener("keydown", (event) => this.#onKey(event));
    this.addEventListener("click", ({ target }) => {
      const button = /** @type {HTMLButtonElement | null} */ (/** @type {Element} */ (target).closest("button"));
      if (button?.matches("[data-span-label]")) this.#mark(button.value);
      else if (button?.matches("[data-remove]")) this.#change(this.#spans.toSpliced(Number(button.dataset.remove), 1));
    });
  }

  /* Called with what the item shows of the part that holds the text. */
  /** @param {any} value */
  shown(value) {
    const source = String(this.dataset.source);
    const text = typeof value === "string" ? value : source.startsWith("meta.") ? value?.[source.slice(5)] : value?.text;
    this.#text = text ?? "";
    this.#selected = null;
    this.#write();
  }

  get blank() {
    return [];
  }

  get value() {
    return this.#spans;
  }

  /** @param {Span[] | null} spans */
  set value(spans) {
    this.#spans = [...(spans ?? [])];
    this.#draw();
  }

  /* Whether words are selected: the keys of the labels are theirs. */
  get hasSelection() {
    return this.#selected !== null;
  }

  /* A value in words, as two versions of a response are compared. */
  /** @param {Span[]} spans */
  inWords(spans) {
    return spans.map((span) => `${this.#quote(span)}: ${this.#title(span[2])}`);
  }

  get #place() {
    return /** @type {HTMLElement} */ (this.querySelector("[data-text]"));
  }

  /** @param {EventTarget | null} target */
  #wordAt(target) {
    const part = target instanceof Element ? target.closest("[data-word]") : null;
    return part instanceof HTMLElement ? Number(part.dataset.word) : null;
  }

  /** @param {Span} span */
  #quote([start, end]) {
    return [...this.#text].slice(start, end).join("");
  }

  /** @param {string} label */
  #title(label) {
    const button = /** @type {HTMLButtonElement | undefined} */ ([...this.querySelectorAll("[data-span-label]")].find((each) => /** @type {HTMLButtonElement} */ (each).value === label));
    return button?.dataset.label ?? label;
  }

  /* Write the text word by word. */
  #write() {
    this.#words = [];
    const parts = [];
    let last = 0;
    let at = 0; // of the next word, in code points
    for (const { 0: word, index } of this.#text.matchAll(WORD)) {
      const between = this.#text.slice(last, index);
      at += [...between].length;
      const part = element("span", { textContent: word, dataset: { word: this.#words.length } });
      this.#words.push({ start: at, end: at + [...word].length, part });
      parts.push(between, part);
      at += [...word].length;
      last = index + word.length;
    }
    this.#place.replaceChildren(...parts, this.#text.slice(last));
    this.#draw();
  }

  /* Show what is marked and what is selected. */
  #draw() {
    const labels = [...this.querySelectorAll("[data-span-label]")].map((button) => /** @type {HTMLButtonElement} */ (button).value);
    const [from, to] = this.#range();
    for (const [index, { start, end, part }] of this.#words.entries()) {
      const span = this.#spans.find((each) => each[0] < end && start < each[1]);
      part.toggleAttribute("data-selected", index >= from && index <= to);
      part.toggleAttribute("data-marked", Boolean(span));
      if (span) part.style.setProperty("--hue", String(labels.indexOf(span[2]) * HUE));
      if (span && end >= span[1]) part.dataset.tag = this.#title(span[2]);
      else delete part.dataset.tag;
    }
    const list = /** @type {HTMLElement} */ (this.querySelector("[data-list]"));
    list.replaceChildren(...this.#spans.map((span, index) => {
      const words = `${this.#quote(span)}: ${this.#title(span[2])}`;
      const remove = element("button", { type: "button", className: "quiet small", textContent: t("Remove"), ariaLabel: t`Remove ${words}`, dataset: { remove: index } });
      return element("li", {}, element("span", { textContent: words, dir: "auto" }), " ", remove);
    }));
  }

  /** @returns {[number, number]} */
  #range() {
    const [anchor, end] = this.#selected ?? [0, -1];
    return this.#selected ? [Math.min(anchor, end), Math.max(anchor, end)] : [0, -1];
  }

  /** @param {[number, number] | null} selected */
  #select(selected) {
    this.#selected = selected;
    this.#draw();
    const [from, to] = this.#range();
    const words = this.#words.slice(from, to + 1);
    const text = words.length ? this.#quote([words[0].start, words[words.length - 1].end, ""]) : "";
    this.#say(text && t`Selected: ${text}`);
    this.closest("askew-annotate")?.turns?.markTurn();
  }

  /** @param {string} words */
  #say(words) {
    /** @type {HTMLElement} */ (this.querySelector("[data-said]")).textContent = words;
  }

  /* A word was pressed: the first one of a passage, or the last; dragging selects from word to word. */
  /** @param {number | null} word */
  #onPress(word) {
    const from = this.#pressed;
    this.#pressed = null;
    if (word === null || from === null) return;
    if (from !== word) return this.#select([from, word]);
    const [first, last] = this.#range();
    const isSingle = this.#selected !== null && first === last;
    if (isSingle && first === word) return this.#select(null);
    this.#select(isSingle ? [first, word] : [word, word]);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && this.#words.length) {
      const [anchor, end] = this.#selected ?? [step > 0 ? -1 : this.#words.length, step > 0 ? -1 : this.#words.length];
      const next = Math.min(Math.max(end + step, 0), this.#words.length - 1);
      this.#select(event.shiftKey && this.#selected ? [anchor, next] : [next, next]);
    } else if (["Backspace", "Delete"].includes(event.key) && this.#selected) {
      const [from, to] = this.#range();
      this.#change(this.#spans.filter(([start, end]) => end <= this.#words[from].start || start >= this.#words[to].end));
    } else return;
    event.preventDefault();
  }

  /* Give the selected words a label; the same words lose a label that they have. */
  /** @param {string} label */
  #mark(label) {
    if (!this.#selected) return this.#say(t("Select words first."));
    const [from, to] = this.#range();
    const { start } = this.#words[from];
    const { end } = this.#words[to];
    const isSame = this.#spans.some((span) => span[0] === start && span[1] === end && span[2] === label);
    const others = this.#spans.filter((span) => span[2] !== label || span[1] <= start || span[0] >= end);
    this.#selected = null;
    this.#change(isSame ? others : [...others, /** @type {Span} */ ([start, end, label])]);
  }

  /** @param {Span[]} spans */
  #change(spans) {
    this.#spans = spans.toSorted((one, other) => one[0] - other[0] || one[1] - other[1] || (one[2] < other[2] ? -1 : 1));
    this.#say("");
    this.#draw();
    this.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

customElements.define("askew-spans", AskewSpans);
