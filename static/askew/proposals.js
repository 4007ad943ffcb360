/* <askew-proposals>: whole responses that machines propose for the item on screen. A person puts one into the form, edits
   it there, or rejects it and says what is wrong. Nothing waits for it: without an answer the form is what it always is.

   Keys in the list: up and down to another proposal; Enter puts it into the form, and once more submits it; E puts it there
   to be edited; 1 to 4 reject it with what is wrong; Esc leaves the list. With assignment.help "filled" the first proposal
   is in the form when the item comes, and when it is rejected the next one takes its place.

   Whose a response is, the server decides: what is told from here is only what was done with which proposal. */

import { Problem, send } from "./api.js";
import { same } from "./draft.js";
import { element } from "./elements.js";
import { t } from "./language.js";

/** @type {Record<string, [words: string, kind: string]>} */
const VERDICTS = {
  fooled: [t("fools the model"), "good"],
  not_fooled: [t("the model gets it right"), "open"],
  wrong_on_original: [t("the model already gets the original wrong"), "open"],
};

const SOON = 1_000; // ms after an item in which its proposals come with it, so that their keys are meant for them
const OWN = /^(?:e|[1-9]|F2|Enter|Escape|Arrow(?:Up|Down))$/iu;
const LONGEST = 1_000; // ms that the end of an item waits for what was told of its proposals

class AskewProposals extends HTMLElement {
  /** @type {string[][]} */
  errors = /** @type {never} */ (undefined);
  /** @type {Record<string, PagePart>} */
  parts = /** @type {never} */ (undefined);
  /** @type {AnnotatePage} */
  page = /** @type {never} */ (undefined);
  /** @type {Assignment} */
  #assignment = /** @type {never} */ (undefined);
  /** @type {readonly Proposal[]} */
  #found = [];
  /** @type {{ id: string, data: ResponseData } | null} */
  #inForm = null; // {id, data}: the proposal that the form holds, as it is
  /** @type {Promise<unknown>} */
  #told = Promise.resolve(); // what is done with proposals has been said once, and arrived or not
  #asking = 0;

  connectedCallback() {
    if (this.page) return;
    this.page = this.closest("askew-annotate");
    this.parts = Object.fromEntries([...this.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    this.errors = (this.dataset.errors ?? "").split("|").filter(Boolean).map((one) => one.split(/:(.*)/su).slice(0, 2));
    this.querySelector("button[name=proposals]").addEventListener("click", () => this.#focus());
    this.parts.list.addEventListener("keydown", (event) => this.#onKey(event));
    this.parts.list.addEventListener("click", (event) => this.#onClick(event));
    this.addEventListener("item-shown", ({ detail }) => this.#begin(detail.assignment));
    this.addEventListener("response-entered", () => this.#entered());
  }

  /* A further table for the list of keys. */
  get keyTable() {
    return {
      title: t("In the proposals"),
      rows: [
        [["Enter"], t("put it into the form; again: submit it")],
        [["E"], t("put it into the form and edit it")],
        [this.errors.map((_, place) => String(place + 1)), t("reject it with a reason")],
        [["↑", "↓"], t("previous or next proposal")],
      ],
    };
  }

  /** @param {Assignment} assignment */
  async #begin(assignment) {
    this.#assignment = assignment;
    this.#found = [];
    this.#inForm = null;
    this.hidden = !assignment.help;
    this.#draw();
    this.parts.say.textContent = "";
    if (!assignment.help) return;
    const asking = (this.#asking += 1);
    try {
      const { proposals } = await send("POST", this.#url("proposals"), {});
      if (asking !== this.#asking) return;
      this.#found = proposals;
      this.parts.say.textContent = proposals.length ? "" : t("No proposals for this item.");
      this.#draw();
      this.#open();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (asking === this.#asking) this.parts.say.textContent = t("The proposals could not be loaded. You can continue without them.");
    }
  }

  /* The item begins: filled in, or with the list in the hand of whoever has not begun otherwise. */
  #open() {
    const { begun, isBlank } = this.page;
    const fresh = isBlank && !begun.has && !this.#assignment.draft && !this.#assignment.annotation;
    if (!this.#found.length || !fresh) return;
    if (this.#assignment.help === "filled") begun.byMachine(() => this.#fillNext());
    begun.lead(this, () => this.#focus(), (key) => begun.age < SOON && OWN.test(key));
  }

  #fillNext() {
    const next = this.#found.find(({ state }) => state !== "rejected");
    if (next) this.#take(next);
    else {
      this.#inForm = null;
      this.page.put(null);
      this.parts.say.textContent = t("All proposals are rejected. Write your own response, or skip the item.");
    }
    return next;
  }

  #entered() {
    if (!this.#inForm || same(this.page.response.data, this.#inForm.data)) return;
    this.#inForm = null;
    this.#draw();
  }

  // --- what is done with one -----------------------------------------------------------------------------------------

  /** @param {Proposal} one */
  #take(one) {
    this.page.put(one.data);
    this.#inForm = { id: one.id, data: this.page.response.data };
    one.state = "took";
    this.#draw();
    this.#tell(one, { act: "took" });
  }

  /** @param {Proposal} one @param {string} error */
  #reject(one, error) {
    const was = this.#inForm?.id === one.id;
    one.state = "rejected";
    one.error = error;
    this.#tell(one, { act: "rejected", errors: [error] });
    const place = this.#found.indexOf(one);
    let next = this.#found.slice(place + 1).find(({ state }) => state !== "rejected") ?? this.#found.find(({ state }) => state !== "rejected");
    if (was && this.#assignment.help === "filled") next = this.#fillNext();
    else if (was) {
      this.#inForm = null;
      this.page.put(null);
    }
    this.#draw();
    if (next) this.#focus(next);
    else this.page.focusStart();
  }

  /* Told and not waited for; once more where it did not arrive. Only what ends the item waits for what was told before
     it, and not for long: the server counts what it heard until then. */
  /** @param {Proposal} one @param {{ act: string, errors?: string[] }} said */
  #tell(one, said) {
    const url = this.#url("handle");
    const first = once(url, { proposal: one.id, ...said });
    this.#told = Promise.race([Promise.all([this.#told, first]), later(LONGEST)]);
    first.then(async (arrived) => {
      for (const wait of arrived ? [] : [2_000, 8_000]) {
        await later(wait);
        if (await once(url, { proposal: one.id, ...said })) return;
      }
    });
  }

  /* Fulfilled when the server knows what was done with the proposals of this item. */
  get told() {
    return this.#told;
  }

  // --- keys and clicks -------------------------------------------------------------------------------------------------

  /** @param {KeyPress} event */
  #onKey(event) {
    const one = this.#of(event.target);
    if (!one || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const error = this.errors[Number(key) - 1];
    if (key === "ArrowDown" || key === "ArrowUp") this.#move(one, key === "ArrowDown" ? 1 : -1);
    else if (key === "Enter" && event.target.matches(".proposal")) this.#use(one);
    else if (key.toLowerCase() === "e" || key === "F2") this.#edit(one);
    else if (error && one.state !== "rejected") this.#reject(one, error[0]);
    else if (key === "Escape") this.page.querySelector(".actions button[value=submit]").focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Press} event */
  #onClick(event) {
    const one = this.#of(event.target);
    const button = event.target.closest("button");
    if (!one || !button) return;
    if (button.dataset.error) this.#reject(one, button.dataset.error);
    else if ("edit" in button.dataset) this.#edit(one);
    else this.#use(one);
  }

  /** @param {Proposal} one */
  #use(one) {
    if (this.#inForm?.id === one.id) return this.page.submit();
    this.#take(one);
    this.#focus(one);
  }

  /** @param {Proposal} one */
  #edit(one) {
    if (this.#inForm?.id !== one.id) this.#take(one);
    this.page.focusStart();
  }

  /** @param {Proposal} one @param {number} by */
  #move(one, by) {
    const next = this.#found[this.#found.indexOf(one) + by];
    if (next) this.#focus(next);
  }

  /** @param {Proposal} one */
  #focus(one = this.#found.find(({ state }) => state !== "rejected") ?? this.#found[0]) {
    const place = this.#found.indexOf(one);
    const button = this.parts.list.children[place]?.querySelector(".proposal");
    button?.focus({ preventScroll: true });
    button?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Element | null} target */
  #of(target) {
    return this.#found[[...this.parts.list.children].findIndex((item) => item.contains(target))] ?? null;
  }

  /** @param {string} action */
  #url(action) {
    return `${this.page.dataset.api}assignments/${this.#assignment.id}/${action}/`;
  }

  // --- drawing -----------------------------------------------------------------------------------------------------------

  #draw() {
    const here = this.#of(document.activeElement);
    this.parts.list.replaceChildren(...this.#found.map((one) => this.#item(one)));
    if (here) this.#focus(here);
  }

  /** @param {Proposal} one */
  #item(one) {
    const inForm = this.#inForm?.id === one.id;
    const isRejected = one.state === "rejected";
    const [first, ...more] = one.words;
    const [words, kind] = VERDICTS[one.verdict ?? ""] ?? [];
    const reasons = this.errors.map(([key, text], place) => act(text, String(place + 1), { error: key }));
    const wrong = element("span", { className: "wrong" }, element("span", { className: "soft small", textContent: t("Reject: ") }), ...reasons);
    return element(
      "li", { dataset: { state: inForm ? "took" : isRejected ? "rejected" : "" } },
      element(
        "button", { type: "button", className: "proposal" },
        element("span", { className: "text", textContent: first, dir: "auto" }),
        ...[...more, ...(one.why ? [one.why] : [])].map((textContent) => element("small", { textContent, dir: "auto" })),
        ...(words ? [element("span", { className: "state", textContent: words, dataset: { kind } })] : []),
        element("small", { className: "now", textContent: inForm ? t("In the form.") : isRejected ? t("Rejected.") : "" }),
      ),
      element(
        "div", { className: "acts" },
        act(inForm ? t("Submit it") : t("Use it"), "Enter", {}), act(t("Edit"), "E", { edit: "" }), ...(isRejected ? [] : [wrong]),
      ),
    );
  }
}

/** @param {string} text @param {string} key @param {Record<string, string>} dataset */
function act(text, key, dataset) {
  return element("button", { type: "button", className: "quiet", tabIndex: -1, dataset }, text, element("kbd", { ariaHidden: "true", textContent: key }));
}

/* Whether there is nothing more to say: it arrived, or the server will not have it. */
/** @param {string} url @param {object} body */
async function once(url, body) {
  try {
    await send("POST", url, body);
    return true;
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return !problem.passing;
  }
}

/** @param {number} wait */
const later = (wait) => new Promise((resolve) => { setTimeout(resolve, wait); });

customElements.define("askew-proposals", AskewProposals);
