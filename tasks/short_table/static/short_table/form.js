/* <askew-first-cut>: one button that leaves out everything but what the marked cells need, as a start. */

import { t } from "../askew/language.js";
import "../askew/programs.js";
import "../askew/shown-if.js";

class AskewFirstCut extends HTMLElement {
  /** @type {readonly Operation[]} */
  #operations = [];

  connectedCallback() {
    this.addEventListener("item-shown", () => this.#offer([]));
    this.addEventListener("item-suggested", ({ detail }) => this.#offer(detail.suggestions?.cut ?? []));
    this.querySelector("button").addEventListener("click", () => {
      const { grid } = this.closest("askew-annotate");
      grid.change(this.#operations, t("Reduced to the marked cells and their labels"));
    });
  }

  /** @param {readonly Operation[]} operations */
  #offer(operations) {
    this.#operations = operations;
    this.hidden = !operations.length;
  }
}

customElements.define("askew-first-cut", AskewFirstCut);
