/* <askew-adjudicate>: an adjudicator's items one after the other, by keys, without loading a page in between.

   The forms inside work without this script. With it they are sent in the background with the header X-Lane; the answer holds
   the next item, which takes the place of the one before (templates/adjudicating/_lane.html). What is chosen and written is
   kept in this browser until the item is decided. A letter chooses the response of that name, and replaces the choice where one
   outcome wins and first after an undo; a digit decides with a listed reason, Enter decides. While a panel is open, no key decides. */

import { draftOf, forgetDraft, keepDraft, sweepDrafts, WRITTEN } from "./adjudication-draft.js";
import { PAUSE } from "./commits.js";
import { comparisonKeys } from "./comparison-keys.js";
import { element } from "./elements.js";
import { t } from "./language.js";
import { Keys, outside, writes } from "./keys.js";

const PATIENCE = 20_000; // ms; a request that takes longer counts as a failed connection

class AskewAdjudicate extends HTMLElement {
  /** @type {Keys} */
  keys = /** @type {never} */ (undefined);
  #sending = false;
  /** @type {number | null} */
  #resting = null; // for a moment after an item has come: keys were meant for the one before
  #isRestored = false; // the choice is that of an undone decision: the first letter replaces it
  #isWarned = false; // the key of undo has said that it passes over a response that was sent back

  connectedCallback() {
    if (this.keys || "unsupported" in document.documentElement.dataset) return; // see browser.js
    const [next, turn] = comparisonKeys({
      next: (by) => this.#comparison?.next(by),
      turn: () => this.#comparison?.turn(),
    });
    this.keys = new Keys(this, [
      { name: "decide", key: "Enter", label: t("Decide; after a refusal, open the next item"), run: () => this.#decide() },
      { name: "note", key: "r", label: t("Write a note"), run: () => this.#openNote() },
      { name: "own", key: "w", label: t("Write your own response, starting from the chosen one"), run: () => this.#writeOwn() },
      { name: "send_back", key: "s", label: t("Send a response back"), run: () => this.#open("send_back") },
      { name: "exclude", key: "x", label: t("Exclude the item"), run: () => this.#open("exclude") },
      next,
      turn,
      { name: "later", key: "l", label: t("Decide later, open the next item"), run: () => this.querySelector("[data-later], [data-go]")?.click() },
      { name: "undo", key: "u", label: t("Undo your last decision, or sending a response back"), run: () => this.#undo() },
      { name: "help", key: "?", label: t("Show keyboard shortcuts"), run: () => this.keys.help() },
    ]);
    this.addEventListener("submit", (event) => this.#onSubmit(event));
    this.addEventListener("click", (event) => this.#onClick(event));
    this.addEventListener("keydown", (event) => this.#onKey(event));
    this.addEventListener("input", () => this.#keep());
    this.addEventListener("change", () => {
      this.#isRestored = false;
      this.#keep();
    });
    this.addEventListener("toggle", ({ target }) => this.#onToggle(/** @type {PagePart<HTMLDetailsElement>} */ (target)), { capture: true });
    for (const kind of ["keydown", "click"]) document.addEventListener(kind, (event) => this.#ignore(event), { capture: true });
    sweepDrafts();
    this.#shown();
  }

  /* What Keys calls for a letter or a digit. */
  /** @param {readonly Required<KeyAction>[]} actions @param {string} key */
  choose([{ input }], key) {
    if (input.matches("button")) return this.#press(`[data-key="${CSS.escape(input.dataset.key ?? "")}"]`, input);
    const replaces = this.#isRestored || (!input.checked && this.#form.hasAttribute("data-single-outcome"));
    if (replaces) for (const other of outside(this, "input[name=choose]")) other.checked = other === input;
    else input.checked = !input.checked;
    this.#isRestored = false;
    this.#keep();
    const letters = this.#chosen();
    this.#announce(letters.length ? t`Chosen: ${letters.join(", ")}` : t`${this.keys.shown(key)} is no longer chosen.`);
  }

  /* What is pressed while a decision is on its way, or just after, belongs to no item that anybody has seen. A sign says so. */
  /** @param {Event} event */
  #ignore(event) {
    const isKey = event instanceof KeyboardEvent;
    const isInput = isKey ? event.key.length === 1 || event.key === "Enter" : this.contains(/** @type {Node} */ (event.target));
    const rests = this.#sending || (this.#resting !== null && isInput && !(isKey && event.isComposing));
    if (rests && (isInput || isKey)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    if (isInput && !(isKey && event.repeat)) this.#sign(rests ? t("Ignored: the item was not ready yet.") : "");
  }

  /** @param {string | undefined} text */
  #sign(text) {
    const place = this.querySelector("[data-ignored]");
    if (place) place.textContent = text ?? "";
  }

  #rest() {
    clearTimeout(this.#resting);
    this.toggleAttribute("data-resting", true);
    this.#resting = setTimeout(() => {
      this.#resting = null;
      this.removeAttribute("data-resting");
    }, PAUSE);
  }

  /** @returns {DecisionForm} */
  get #form() {
    return /** @type {never} */ (this.querySelector("form.decision"));
  }

  get #comparison() {
    return this.querySelector("askew-comparison");
  }

  get #panel() {
    return this.querySelector("details[data-panel][open]");
  }

  #chosen() {
    return outside(this, "input[name=choose]").filter(({ checked }) => checked).map(({ value }) => value);
  }

  // --- keys --------------------------------------------------------------------------------------------------------

  /* Nothing is decided from an open panel: it takes the focus instead. After the last item Enter stays where undo works. */
  #decide() {
    if (this.#panel) this.#open(this.#panel.dataset.panel);
    else if (this.querySelector(".actions button[value=decide]")) this.#press(".actions button[value=decide]");
    else this.querySelector("[data-later]")?.click();
  }

  /** @param {string} selector @param {HTMLButtonElement | HTMLInputElement} button */
  #press(selector, button = /** @type {HTMLButtonElement} */ (this.querySelector(selector))) {
    if (this.#panel && !this.#panel.contains(button)) this.#open(this.#panel.dataset.panel);
    else button?.form?.requestSubmit(button);
  }

  /* Where the author has continued with a response that was sent back, the key says so first. The second time it passes over it. */
  #undo() {
    const isPassedOver = this.querySelector("[data-passed-over]") && !this.#isWarned && !this.#panel;
    if (!isPassedOver) return this.#press("[name=undo]");
    this.#notice(`${t("An author has already worked on the response that was sent back.")} ${this.#passOver()}`);
  }

  /* What the key of undo does when it is pressed again. */
  #passOver() {
    this.#isWarned = true;
    if (!this.querySelector("[name=undo]")) return "";
    const { key } = /** @type {KeyAction} */ (this.keys.table().find(({ name }) => name === "undo"));
    return t`Press ${this.keys.shown(key)} again to undo your last decision before it.`;
  }

  #writeOwn() {
    const letters = this.#chosen();
    const edit = letters.length === 1 && this.querySelector(`[data-edit="${letters[0]}"]`);
    (edit || this.querySelector("[data-own]"))?.click();
  }

  #openNote() {
    const field = /** @type {PagePart<HTMLDetailsElement> | null} */ (this.querySelector("[data-note]"));
    if (!field) return;
    field.open = true;
    field.querySelector("textarea").focus();
  }

  /** @param {string} name */
  #open(name) {
    const panel = this.querySelector(`details[data-panel=${name}]`);
    if (!panel) return; // nobody has responded
    panel.open = true;
    (panel.querySelector("input:checked, input, textarea") ?? panel.querySelector(".popped")).focus();
  }

  /* Keys act on the item again. Who uses none of them stays where the panel is opened. */
  /** @param {HTMLElement} panel */
  #leave(panel) {
    const place = this.keys.off ? panel.querySelector("summary") : this.querySelector(".question");
    place?.focus({ preventScroll: true });
  }

  /** @param {PagePart<HTMLDetailsElement>} panel */
  #onToggle(panel) {
    if (!panel.matches?.("details[data-panel]") || !panel.open) return;
    for (const other of this.querySelectorAll("details[data-panel][open]")) other.open = other === panel;
  }

  /** @param {KeyPress} event */
  #onKey(event) {
    const panel = event.target.closest("details[data-panel][open]");
    const control = event.ctrlKey || event.metaKey;
    if (event.key === "Escape" && panel) {
      event.preventDefault();
      panel.open = false;
      this.#leave(panel);
    } else if (event.key === "Escape" && writes(event.target)) {
      event.preventDefault();
      this.querySelector(".actions .primary")?.focus();
    } else if (event.key === "Enter" && control && !event.repeat) {
      event.preventDefault();
      if (panel) this.#press("", panel.querySelector("button[name=action]"));
      else this.#decide();
    } else if (event.key === "Enter" && event.target.matches("input") && panel) {
      event.preventDefault(); // in a panel Enter goes on to the next field, it decides nothing
      panel.querySelector("textarea, input:not([type=radio])")?.focus();
    } else if (panel && !control && !event.altKey && !writes(event.target)) {
      const radio = panel.querySelector(`input[type=radio][value="${CSS.escape(event.key.toUpperCase())}"]`);
      if (!radio) return;
      event.preventDefault();
      radio.checked = true;
      radio.focus();
      this.#keep();
    }
  }

  /** @param {Press} event */
  #onClick(event) {
    if (event.target.closest("[data-help]")) this.keys.help();
    const more = event.target.closest("[data-more-actions]");
    more?.setAttribute("aria-expanded", String(more.parentElement.toggleAttribute("data-all")));
    const link = /** @type {HTMLAnchorElement | null} */ (event.target.closest("[data-later], .caught-up [data-go]"));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !link.pathname.endsWith("/adjudicate/")) return;
    if (!this.querySelector("[data-item]")) return;
    event.preventDefault();
    this.#send(link.href);
  }

  // --- sending -----------------------------------------------------------------------------------------------------

  /** @param {SubmitEvent} event */
  #onSubmit(event) {
    const submitter = /** @type {HTMLButtonElement | null} */ (event.submitter);
    const target = /** @type {HTMLFormElement} */ (event.target);
    if (!this.querySelector("[data-item]")) return; // the queue: a page follows
    event.preventDefault();
    if (submitter?.value === "begin") return location.assign(submitter.formAction); // the note is kept in this browser
    if (submitter?.value === "decide" && !this.#chosen().length) {
      this.#notice(t("Not decided yet. Choose a response with its letter, or exclude the item with X."));
      return;
    }
    if (submitter?.name === "listed_reason" && !this.#chosen().length) return this.#notice(t("Choose a response first, then the reason."));
    const note = this.querySelector("[data-note][data-required] textarea");
    if ((submitter?.value === "decide" || submitter?.name === "listed_reason") && note && !note.value.trim()) {
      this.#notice(t("This batch requires a note. Write why you decide this way."));
      this.#openNote();
      return;
    }
    const entered = new FormData(target, submitter);
    if (submitter?.value === "decide" || submitter?.name === "listed_reason") entered.delete("exclude"); // of a panel that was closed
    this.#send((submitter ?? target).getAttribute("formaction") ?? target.getAttribute("action") ?? "", entered); // form.action is a button here
  }

  /** @param {string} url @param {FormData | null} body */
  async #send(url, body = null) {
    if (this.#sending) return;
    this.#sending = true;
    this.toggleAttribute("data-sending", true);
    this.#notice("");
    const item = this.#form?.dataset.itemId;
    try {
      const reply = await this.#fetch(url, body);
      if (!reply) return;
      const { response, parts } = reply;
      if (body && response.ok && parts.querySelector("[data-part=item]") && !body.has("undo")) forgetDraft(item);
      this.#take(parts, response);
      if (body && this.#form?.dataset.itemId === item) this.#keep(); // it was refused: what the page shows is kept
    } finally {
      this.#sending = false;
      this.removeAttribute("data-sending");
    }
  }

  /* The server's answer, or null: that is said. */
  /** @param {string} url @param {FormData | null} body */
  async #fetch(url, body) {
    const method = body ? "POST" : "GET";
    try {
      const response = await fetch(url, { method, body, headers: { "X-Lane": "1" }, credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE) });
      return { response, parts: new DOMParser().parseFromString(await response.text(), "text/html") };
    } catch {
      this.#notice(t("The server cannot be reached. Your choice is kept. Try again."));
      return null;
    }
  }

  /* Put what the server answered in the place of the item. */
  /** @param {Document} parts @param {Response} response */
  #take(parts, response) {
    const problem = parts.querySelector("[data-part=problem]");
    const next = parts.querySelector("[data-part=item]");
    if (problem) {
      this.#refused(problem);
    } else if (next) {
      this.querySelector("[data-item]").replaceChildren(...next.childNodes);
      document.querySelector("[data-where]").replaceChildren(...parts.querySelector("[data-part=where]").childNodes);
      history.replaceState(null, "", next.dataset.address);
      this.#shown();
      if (this.#form) this.#rest();
    } else if (response.redirected || response.status === 401 || response.status === 403) {
      this.#notice(t("You are signed out. Reload the page to sign in; what you wrote is kept."));
    } else {
      this.#notice(t`The server responded with status ${response.status}. Your choice is kept. Try again.`);
    }
  }

  /* Undo was refused: the button takes the act before, if there is one. */
  /** @param {PagePart} problem */
  #refused(problem) {
    const button = this.querySelector("button[name=undo]");
    const { undo } = problem.dataset;
    if (button && undo) button.value = undo;
    else if (undo === "") button?.remove();
    this.#notice([problem.textContent, undo && this.#passOver()].filter(Boolean).join(" "));
  }

  /* An item has come, with the page or after another one. */
  #shown() {
    this.#isWarned = false;
    this.keys.label();
    this.#restore();
    this.#mark();
    this.#isRestored = Boolean(this.#form?.hasAttribute("data-restored"));
    const announced = this.querySelector("[data-announced]")?.dataset.announced;
    if (this.#isRestored) {
      this.#keep();
      this.#sign(announced);
    }
    const invalid = this.querySelector("[aria-invalid=true]");
    const parts = [this.#isRestored ? "" : announced, this.querySelector(".question, .caught-up :is(h1, h2)")?.textContent];
    this.#announce(parts.filter(Boolean).join(" "));
    if (invalid) {
      invalid.closest("details")?.setAttribute("open", "");
      invalid.focus();
    } else if (this.#panel) {
      this.#open(this.#panel.dataset.panel);
    } else if (!document.activeElement || document.activeElement === document.body) {
      this.querySelector(".question, .caught-up")?.focus({ preventScroll: true });
    }
    this.dataset.shown = String(Number(this.dataset.shown ?? 0) + 1);
  }

  /** @param {string} text */
  #notice(text) {
    this.querySelector("[data-notices]").replaceChildren(...(text ? [element("p", { className: "notice problem", textContent: text })] : []));
  }

  /** @param {string} text */
  #announce(text) {
    const place = this.querySelector("[data-announce]");
    if (place) place.textContent = text;
  }

  // --- what is chosen and written, until it is decided -----------------------------------------------------------------

  #keep() {
    const form = this.#form;
    if (!form) return;
    this.#mark();
    /** @type {AdjudicationDraft} */
    const draft = { responses: form.elements.responses.value, choose: this.#chosen(), back: form.elements.back?.value ?? "" };
    for (const name of WRITTEN) draft[name] = form.elements[name]?.value ?? "";
    keepDraft(form.dataset.itemId, draft);
  }

  #mark() {
    for (const input of outside(this, "input[name=choose]")) input.closest(".candidate").toggleAttribute("data-chosen", input.checked);
  }

  /* What the server sent back with the form is newer than what this browser kept. */
  #restore() {
    const form = this.#form;
    const draft = form && draftOf(form.dataset.itemId);
    if (!draft || this.#chosen().length || WRITTEN.some((name) => form.elements[name]?.value)) return;
    const isSame = draft.responses === form.elements.responses.value; // else a letter may be that of another response
    for (const input of outside(this, "input[name=choose]")) input.checked = (isSame && draft.choose?.includes(input.value)) ?? false;
    for (const name of WRITTEN) if (form.elements[name]) form.elements[name].value = draft[name] ?? "";
    if (isSame && form.elements.back && draft.back) form.elements.back.value = draft.back;
    if (draft.note) /** @type {PagePart<HTMLDetailsElement>} */ (this.querySelector("[data-note]")).open = true;
  }
}

customElements.define("askew-adjudicate", AskewAdjudicate);
