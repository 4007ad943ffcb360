/* What is particular to changing values: the computed answer is filled in, never forced, and whoever gives another one
   is asked why. */

import { t } from "../askew/language.js";
import "../askew/programs.js";
import "../askew/shown-if.js";

/* The scale and unit of the numbers, where the source has them. */
class AskewMeasure extends HTMLElement {
  shown(context) {
    const words = [context?.scale, context?.unit].filter(Boolean).join(" ");
    this.textContent = words ? t`in ${words}` : "";
  }
}

/* Writes what the program gives into the field of the new answer, as long as that holds nothing that a person typed; and
   takes it away again when there is no program or no change it could follow from. */
class AskewFilledAnswer extends HTMLElement {
  #filled = null; // what was filled in last, as text
  #computed = null;
  #byHand = false; // somebody typed what stands there
  #putting = false;

  connectedCallback() {
    if (this.field) return;
    this.page = this.closest("askew-annotate");
    this.field = this.page.querySelector("[data-field=answers]");
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
    if (awaited) await page.saved();
    return "";
  }

  #take({ computed }) {
    // What the program gives on an unchanged table is no new answer.
    this.#computed = computed && this.page.grid.operations.length ? computed.join("\n") : null;
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
    this.field.value = this.#computed ?? "";
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.#putting = false;
  }

  #write() {
    const text = this.field.value.trim();
    if (this.#computed === null || (this.#byHand && text === this.#computed)) this.replaceChildren();
    else if (text === this.#computed) this.#say(t("Filled in by the program. You can edit it."));
    else if (text) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet small", textContent: t("Use the computed answer") });
      button.addEventListener("click", () => {
        this.#put();
        this.#write();
      });
      this.#say("", button);
    }
  }

  #say(text, ...more) {
    const line = Object.assign(document.createElement("p"), { className: "soft small" });
    line.append(text, ...more);
    this.replaceChildren(line);
  }
}

customElements.define("askew-measure", AskewMeasure);
customElements.define("askew-filled-answer", AskewFilledAnswer);
