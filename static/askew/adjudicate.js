/* <askew-adjudicate>: the keys of an adjudicator's page. It is a form that works without them.

   A letter chooses the response of that name; N goes to the next change in the table, V shows two tables; R goes to the note,
   Enter decides (in the note Ctrl+Enter does); L leaves the item for later. Sending back and excluding open their panels, which Escape closes. */

import { comparisonKeys } from "./comparison-keys.js";
import { t } from "./language.js";
import { Keys, outside, writes } from "./keys.js";

class AskewAdjudicate extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    if (!this.form || this.keys) return;
    this.note = this.form.elements.note;
    const press = (value) => this.form.requestSubmit(this.form.querySelector(`.actions button[name=action][value=${value}]`));
    const follow = (selector) => this.querySelector(selector)?.click();
    this.keys = new Keys(this, [
      { name: "decide", key: "Enter", label: t("Decide"), run: () => press("decide") },
      { name: "note", key: "r", label: t("Write the reason"), run: () => this.note.focus() },
      { name: "own", key: "w", label: t("Write your own response"), run: () => follow("[data-own]") },
      { name: "send_back", key: "s", label: t("Send a response back"), run: () => this.#open("send_back") },
      { name: "exclude", key: "x", label: t("Exclude the item"), run: () => this.#open("exclude") },
      ...comparisonKeys(this.querySelector("askew-comparison")),
      { name: "later", key: "l", label: t("Decide later, open the next item"), run: () => follow("[data-later]") },
      { name: "help", key: "?", label: t("Show keyboard shortcuts"), run: () => this.keys.help() },
    ]);
    this.addEventListener("click", ({ target }) => target.closest("[data-help]") && this.keys.help());
    this.addEventListener("keydown", (event) => this.#onKey(event, press));
    for (const panel of this.querySelectorAll("details[data-panel]")) {
      panel.addEventListener("toggle", () => {
        if (!panel.open) return;
        for (const other of this.querySelectorAll("details[data-panel][open]")) other.open = other === panel;
      });
    }
    const wrong = this.querySelector("[aria-invalid=true]");
    if (wrong) wrong.focus();
    else if (!document.activeElement || document.activeElement === document.body) {
      this.querySelector(".question")?.focus({ preventScroll: true });
    }
  }

  /* What Keys calls for a letter. */
  choose([input], key) {
    input.checked = !input.checked;
    const chosen = outside(this, "input[name=choose]").filter(({ checked }) => checked).map(({ value }) => value);
    this.#announce(chosen.length ? t`Chosen: ${chosen.join(", ")}` : t`${key} is no longer chosen.`);
  }

  #onKey(event, press) {
    const panel = event.target.closest("details[data-panel][open]");
    if (event.key === "Escape" && panel) {
      event.preventDefault();
      panel.open = false;
      panel.querySelector("summary").focus();
    } else if (event.key === "Escape" && writes(event.target)) {
      event.preventDefault();
      this.querySelector(".actions button[value=decide]").focus();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
      event.preventDefault();
      press(panel?.dataset.panel ?? "decide");
    } else if (event.key === "Enter" && event.target.matches("input") && panel) {
      event.preventDefault(); // in a panel Enter means the panel, not the first button of the form
      if (!event.repeat) press(panel.dataset.panel);
    }
  }

  #open(name) {
    const panel = this.querySelector(`details[data-panel=${name}]`);
    if (!panel) return; // nothing can go back any more
    panel.open = true;
    panel.querySelector("input, textarea").focus();
  }

  #announce(text) {
    this.querySelector("[data-announce]").textContent = text;
  }
}

customElements.define("askew-adjudicate", AskewAdjudicate);
