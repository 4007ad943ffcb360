/* <askew-said>: what the suggesters say. Of the question on screen, with reasons, where the batch shows it before the
   answer; else in one quiet line of the question just answered. */

import { t } from "../askew/language.js";

class AskewSaid extends HTMLElement {
  connectedCallback() {
    this.addEventListener("item-shown", () => this.#show("", []));
    this.addEventListener("item-suggested", ({ detail }) => this.#show(t("Suggested"), detail.suggestions?.said ?? [], true));
    this.addEventListener("last-suggested", ({ detail }) => this.#show(t("The last question:"), detail.suggestions.said));
  }

  #show(title, said, reasons = false) {
    const lines = said.map(({ by, label, why }) => {
      const line = document.createElement("li");
      line.append(`${by}: `, Object.assign(document.createElement("strong"), { textContent: label ?? "nothing" }));
      if (reasons) line.append(Object.assign(document.createElement("small"), { textContent: why }));
      return line;
    });
    this.hidden = !lines.length;
    this.querySelector("[data-title]").textContent = title;
    this.querySelector("ul").replaceChildren(...lines);
    this.toggleAttribute("data-reasons", reasons);
  }
}

customElements.define("askew-said", AskewSaid);
