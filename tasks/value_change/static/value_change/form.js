/* What is particular to changing values: the computed answer is filled in, never forced, and whoever gives another one
   is asked why. */

import { linesOf, writeAnswers } from "../askew/answers.js";
import { element } from "../askew/elements.js";
import { t } from "../askew/language.js";
import "../askew/programs.js";
import "../askew/shown-if.js";
import { equal } from "../askew/tables.js";

/* The scale and unit of the numbers, where the source has them. */
class AskewMeasure extends HTMLElement {
  /** @param {{ scale?: string, unit?: string } | null} context */
  shown(context) {
    const words = [context?.scale, context?.unit].filter(Boolean).join(" ");
    this.textContent = words ? t`in ${words}` : "";
  }
}

/* Writes what the program gives into the field of the new answer, as long as that holds nothing that a person typed; and
   takes it away again when there is no program or no change it could follow from. */
class AskewFilledAnswer extends HTMLElement {
  /** @type {string | null} */
  #filled = null; // what was filled in last, as text
  /** @type {string | null} */
  #computed = null; // what the program gives, as text
  /** @type {readonly string[]} */
  #answers = []; // the same as a list
  #byHand = false; // somebody typed what stands there
  #putting = false;
  /** @type {AnnotatePage} */
  page = /** @type {never} */ (undefined);
  /** @type {HTMLTextAreaElement} */
  field = /** @type {never} */ (undefined);

  connectedCallback() {
    if (this.field) return;
    this.page = this.closest("askew-annotate");
    this.field = this.page.querySelector("textarea[data-field=answers]");
    this.addEventListener("item-shown", () => {
      this.#filled = null;
      this.#computed = null;
      this.#byHand = false;
      this.replaceChildren();
    });
    this.page.addEventListener("program-computed", ({ detail }) => this.#take(detail));
    // What cannot hold any more goes at once, without the server.
    this.page.addEventListener("grid-change", () => this.page.grid.operations.length || this.#drop());
    this.page.addEventListener("change", ({ target }) => target.closest("askew-programs") && !this.page.hasAttribute("data-program") && this.#drop());
    this.field.addEventListener("input", () => {
      if (!this.#putting) this.#byHand = Boolean(this.field.value.trim());
      this.#write();
    });
    this.field.addEventListener("focus", () => { // what a person types takes the place of what was filled in
      if (this.#filled !== null && this.field.value.trim() === this.#filled) this.field.select();
    });
    this.field.addEventListener("blur", () => this.#fill());
  }

  /* The answer comes with the next save of the draft: a submission waits for it. Never has the person anything to finish. */
  async settle() {
    const { page, field } = this;
    const awaited = page.hasAttribute("data-program") && page.grid.operations.length && document.activeElement !== field && !this.#typed;
    if (awaited) await page.item.flush();
    return "";
  }

  /** @param {{ computed: readonly string[] | null }} answer */
  #take({ computed }) {
    // What the program gives on an unchanged table is no new answer.
    this.#answers = computed ?? [];
    this.#computed = computed && this.page.grid.operations.length ? linesOf(computed) : null;
    this.#fill();
    this.#write();
  }

  #drop() {
    this.#take({ computed: null });
  }

  get #typed() {
    const text = this.field.value.trim();
    return text && (this.#byHand || text !== this.#filled) ? text : "";
  }

  #fill() {
    const there = this.field.value.trim();
    if (there && there === this.#computed && !this.#byHand) this.#filled = there; // from a draft
    if (there === (this.#computed ?? "") || this.#typed || document.activeElement === this.field) return;
    this.#put();
  }

  #put() {
    this.#filled = this.#computed;
    this.#byHand = false;
    this.#putting = true;
    writeAnswers(this.field, this.#computed === null ? [] : this.#answers);
    this.page.begun.byMachine(() => this.field.dispatchEvent(new Event("input", { bubbles: true })));
    this.#putting = false;
  }

  #write() {
    const text = this.field.value.trim();
    if (this.#computed === null || (this.#byHand && text === this.#computed)) this.replaceChildren();
    else if (text === this.#computed) this.#say(t("Filled in by the program. You can edit it."));
    else if (text) {
      const button = element("button", { type: "button", className: "quiet small", textContent: t("Use the computed answer") });
      button.addEventListener("click", () => {
        this.#put();
        this.#write();
      });
      this.#say("", button);
    }
  }

  /** @param {string} text @param {...Node} more */
  #say(text, ...more) {
    this.replaceChildren(element("p", { className: "soft small" }, text, ...more));
  }
}

/* Asks which answer is right where the programs disagree on the edited table. Each answer is a button with the first of
   the programs that give it. */
class AskewDisagreement extends HTMLElement {
  /** @type {AnnotatePage} */
  page = /** @type {never} */ (undefined);
  connectedCallback() {
    if (this.page) return;
    this.page = this.closest("askew-annotate");
    this.field = this.page.querySelector("textarea[data-field=answers]");
    this.required = this.field?.dataset.required;
    this.ariaLive = "polite";
    this.addEventListener("item-shown", () => this.#draw([]));
    this.page.addEventListener("program-computed", ({ detail }) => this.#draw(detail.alternatives ?? []));
    this.page.addEventListener("grid-change", () => this.page.grid.operations.length || this.#draw([]));
  }

  /** @param {readonly Alternative[]} alternatives */
  #draw(alternatives) {
    const focused = this.contains(document.activeElement);
    if (this.field) this.field.dataset.required = alternatives.length ? t("Choose an answer, or write one.") : this.required ?? "";
    if (alternatives.length) {
      const question = element("p", { className: "asks", textContent: this.dataset.question });
      const isNew = !this.firstChild;
      const before = this.#answers;
      this.replaceChildren(question, ...alternatives.map((alternative, at) => this.#button(alternative, String(at + 1))));
      if (!equal(before, this.#answers)) this.page.commits?.rekeyed();
      if (isNew) this.#reveal();
    } else this.replaceChildren();
    if (focused) this.page.grid.focusCell();
  }

  /* The answers to choose from, in the order of their digits. */
  get #answers() {
    return [...this.querySelectorAll("button")].map(({ dataset }) => dataset.label);
  }

  /* Beside the table; where the page itself scrolls (a phone), the table stays in view. */
  #reveal() {
    const side = this.closest(".side");
    if (!side || side.contains(document.activeElement) || getComputedStyle(side).overflowY !== "auto") return;
    this.scrollIntoView({ block: "nearest" });
  }

  /** @param {Alternative} alternative @param {string} key */
  #button(alternative, key) {
    const answer = alternative.answers.join(" | ");
    const name = `alternative-${key}`;
    const { words } = alternative.programs[0];
    const button = element(
      "button", { type: "button", className: "alternative", name, ariaKeyShortcuts: key, dataset: { key, label: answer } },
      element("strong", { textContent: answer, dir: "auto" }), " ",
      element("kbd", { textContent: key, ariaHidden: "true", dataset: { shortcut: name } }),
      element("small", { textContent: words, title: words, dir: "auto" }),
    );
    button.addEventListener("click", () => {
      this.page.querySelector("askew-programs").decide(alternative);
      this.page.grid.focusCell();
    });
    return button;
  }
}

customElements.define("askew-measure", AskewMeasure);
customElements.define("askew-disagreement", AskewDisagreement);
customElements.define("askew-filled-answer", AskewFilledAnswer);
