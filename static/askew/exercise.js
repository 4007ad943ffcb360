/* A response that is not submitted: one of practice is judged at once, one that is part of a form goes with it. */

import { send } from "./api.js";
import { element } from "./elements.js";
import { t } from "./language.js";

export class Exercise {
  #handed = false;

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  /* Where the response is part of something larger (data-hands: a decision with its note), it goes with the form, once:
     a second key would send it again, and what follows would be lost. */
  /** @param {object} response */
  hand(response) {
    /** @type {HTMLInputElement} */ (this.page.form.elements.namedItem("response")).value = JSON.stringify(response);
    if (this.#handed || !this.page.form.reportValidity()) return;
    this.#handed = true;
    addEventListener("pageshow", () => { this.#handed = false; }, { once: true }); // somebody came back
    this.page.form.submit();
  }

  /* Practice: say how the response is, then go on when the person does. */
  /** @param {object} response */
  async practise(response) {
    await this.page.guard(async () => {
      const { variant } = this.page.current;
      const number = this.page.number ?? Number(this.page.dataset.number);
      const { right, words, why, next } = await send("POST", this.page.practice ?? "", { response, variant, number });
      const place = this.page.bar.querySelector("[data-feedback]");
      const { unjudged = t("Meets the rules. Compare it with the expected response"), go: onward = t("Next exercise"), end = t("See your score") } = this.page.dataset;
      const verdicts = new Map([[true, t("Correct")], [false, t("Not correct")], [null, unjudged]]);
      const verdict = element("p", { className: "verdict", textContent: verdicts.get(right) });
      place.replaceChildren(verdict, ...words.map((/** @type {string} */ text) => element("p", { textContent: text, dir: "auto" })));
      if (why) place.append(element("p", { dir: "auto" }, element("strong", { textContent: t("Why:") }), ` ${why}`));
      place.dataset.state = right === null ? "open" : right ? "yes" : "no";
      place.hidden = false;
      const go = element("button", { type: "button", className: "primary" }, next ? onward : end, element("kbd", { ariaHidden: "true", textContent: t("Enter") }));
      go.addEventListener("click", () => {
        if (!next) return location.assign(this.page.dataset.done ?? "");
        place.hidden = true;
        this.page.number = number + 1;
        this.page.show({ ...this.page.current, ...next, draft: null, progress: { submitted: number, total: this.page.status.progress.total } });
      });
      place.append(element("p", {}, go));
      this.page.status.announce([...place.children].slice(0, -1).map(({ textContent }) => textContent).join(" "));
      go.focus();
    }, (problem) => {
      if (problem.code !== "invalid_response") return false;
      this.page.submission.onInvalid(problem);
      return true;
    });
  }
}
