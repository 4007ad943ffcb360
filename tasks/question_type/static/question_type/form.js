/* <askew-said>: what the suggesters say of the question on screen, with reasons, where the batch shows it before the answer. */

import { element } from "../askew/elements.js";
import { t } from "../askew/language.js";

class AskewSaid extends HTMLElement {
  connectedCallback() {
    this.addEventListener("item-shown", () => this.#show([]));
    this.addEventListener("item-suggested", ({ detail }) => this.#show(detail.suggestions?.said ?? []));
  }

  /** @param {readonly SuggestedLabel[]} said */
  #show(said) {
    const lines = said.map(({ by, label, why }) => element("li", {}, `${by}: `, element("strong", {}, label ?? t("nothing")), element("small", {}, why)));
    this.hidden = !lines.length;
    this.querySelector("ul").replaceChildren(...lines);
  }
}

customElements.define("askew-said", AskewSaid);
