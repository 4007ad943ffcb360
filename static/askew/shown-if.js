/* <askew-shown-if data-code>: a part of the form that is there while a check of the server found what it asks about, or
   while it is filled in. */

class AskewShownIf extends HTMLElement {
  /** @type {HTMLInputElement} */
  field = /** @type {never} */ (undefined);
  connectedCallback() {
    if (this.field) return;
    this.field = /** @type {HTMLInputElement} */ (this.querySelector("textarea, input"));
    /** @param {readonly Violation[]} violations */
    const look = (violations) => {
      this.hidden = !violations.some(({ code }) => code === this.dataset.code) && !this.#filled && document.activeElement !== this.field;
    };
    this.addEventListener("item-shown", () => look([]));
    this.addEventListener("draft-checked", ({ detail }) => look(detail.violations));
  }

  get #filled() {
    return this.field.type === "checkbox" ? this.field.checked : Boolean(this.field.value.trim());
  }
}

customElements.define("askew-shown-if", AskewShownIf);
