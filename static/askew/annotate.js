/* <askew-annotate>: the loop of an annotator, item after item, without loading a page.

   It takes over a form that works without it. #assignment holds the item as JSON; [data-show] are filled from it;
   [data-field] are what a person enters, as data-kind choice, flag, text, lines or operations. While somebody
   enters something it is saved (item.js), checked for structure at once (contract.js) and by the server a moment
   later. Submit, skip, flag and undo go to the API; one further item is always fetched ahead and shown at once.

   A kind may bring elements of its own (<key>/form.js): one with data-show gets `shown(value, assignment)`, one with
   data-kind="json" has `value`, says "change" when it changes, and puts a value in words with `inWords(value)` (a list of
   texts); every element of the form hears `item-shown`
   {assignment}, `item-suggested` {suggestions, reason}, `response-entered` with every change, and `draft-checked` {violations, answer}, which do not bubble; its
   `keyTable` {title, rows} stands in the list of keys. A submission waits for the `settle()` of each element that has one:
   it resolves to "" when the element's part of the response is complete, else to what the person has to do first. */

import { Problem, send } from "./api.js";
import { Begun } from "./begun.js";
import { isKeptOpen } from "./browser-storage.js";
import { Checklist } from "./checklist.js";
import { Commits } from "./commits.js";
import { copyOf, digest, forget, same } from "./draft.js";
import { Focus } from "./focus.js";
import { AskewGrid } from "./grid.js";
import { Guidelines } from "./guidelines.js";
import { FormItem, Item, PracticeItem } from "./item.js";
import { ItemDisplay } from "./item-display.js";
import { Keys, outside } from "./keys.js";
import { t } from "./language.js";
import { later } from "./later.js";
import { growWithPage } from "./long-choices.js";
import { LongQuestion } from "./long-question.js";
import { Lookback, PAST } from "./lookback.js";
import { clock, PageStatus } from "./page-status.js";
import { keySections, pageKeys } from "./page-keys.js";
import { Panels } from "./panels.js";
import { Requirements } from "./requirements.js";
import { inputOf, ResponseFields } from "./response-fields.js";
import { PING, Saving, WISH } from "./saving.js";
import { Steps } from "./steps.js";
import { Submission } from "./submission.js";
import { recall } from "./tab-memory.js";
import { Turns } from "./turns.js";

export class AskewAnnotate extends HTMLElement {
  current = /** @type {ItemAssignment} */ (/** @type {unknown} */ (null));
  isGuarded = false; // while something is on its way that needs the whole page
  changing = false;
  values = new ResponseFields(this);
  display = new ItemDisplay(this);
  turns = new Turns(this);
  requirements = new Requirements(this);
  status = new PageStatus(this);
  panels = new Panels(this);
  saving = new Saving(this);
  submission = new Submission(this);
  lookback = new Lookback(this);
  exercise = later(() => this.status.fetched(async () => {
    const { Exercise } = await import("./exercise.js");
    return new Exercise(this);
  }));
  /** @type {import("./past.js").Past | null} */
  past = null; // the strip of earlier items, once it is here
  /** @type {import("./session.js").Session | null} */
  session = null;
  /** @type {number | null} */
  number = null; // of the exercise
  // From here on: set by connectedCallback, before anything uses it.
  form = /** @type {PagePart<HTMLFormElement>} */ (/** @type {unknown} */ (null));
  grid = /** @type {AskewGrid} */ (/** @type {unknown} */ (null));
  comparison = /** @type {PagePart<ComparisonElement>} */ (/** @type {unknown} */ (null));
  bar = /** @type {PagePart} */ (/** @type {unknown} */ (null));
  panel = /** @type {PagePart} */ (/** @type {unknown} */ (null));
  noticeList = /** @type {PagePart} */ (/** @type {unknown} */ (null));
  places = /** @type {Record<string, PagePart[]>} */ (/** @type {unknown} */ (null));
  item = /** @type {Item | PracticeItem} */ (/** @type {unknown} */ (null));
  begun = /** @type {Begun} */ (/** @type {unknown} */ (null));
  steps = /** @type {Steps} */ (/** @type {unknown} */ (null));
  checklist = /** @type {Checklist} */ (/** @type {unknown} */ (null));
  keys = /** @type {Keys} */ (/** @type {unknown} */ (null));
  guidelines = /** @type {Guidelines} */ (/** @type {unknown} */ (null));
  commits = /** @type {Commits} */ (/** @type {unknown} */ (null));
  operationsField = /** @type {Field | null} */ (/** @type {unknown} */ (null));
  cellsField = /** @type {Field | null} */ (/** @type {unknown} */ (null));
  /** @type {Field[]} */
  fields = [];
  /** @type {string | null} */
  practice = null;

  connectedCallback() {
    const source = document.getElementById("assignment");
    if (!source || this.form || "unsupported" in document.documentElement.dataset) return; // see browser.js
    this.form = this.querySelector("form");
    this.grid = this.querySelector("askew-grid[data-show=table]");
    this.comparison = this.querySelector("askew-comparison");
    this.fields = outside(this.form, "[data-field]");
    const missing = this.fields.find((field) => field.localName.includes("-") && !customElements.get(field.localName));
    [this.bar] = outside(this.form, ".actions");
    [this.panel] = outside(this.form, ".panel");
    [this.noticeList] = outside(this.bar, "[data-notices]");
    this.places = Object.fromEntries(Object.entries(PLACES).map(([name, selector]) => [name, outside(this, selector)]));
    this.operationsField = this.fields.find((field) => field.dataset.kind === "operations") ?? null;
    const item = JSON.parse(source.textContent);
    const able = !this.grid || AskewGrid.can(item.grid, this.operationsField !== null);
    if (missing || !able) return; // a script did not come: without it only the plain page is whole
    this.begun = new Begun();
    new Focus(this, () => this.focusStart());
    this.steps = new Steps(this.places.steps, this.fields);
    this.cellsField = this.fields.find((field) => field.dataset.kind === "cells") ?? null;
    const onTable = this.operationsField ?? this.cellsField;
    this.checklist = new Checklist(this.places.checklist[0] ?? null, this.places.holds, this.places.ready[0] ?? null, onTable, (field) => (field === onTable ? this.toTable() : this.focusField(field)));
    this.practice = this.dataset.practice ?? this.dataset.hands ?? null;
    this.item = this.practice ? new ("itemId" in this.dataset ? FormItem : PracticeItem)() : new Item(this.saving.pageOfItem());
    this.keys = new Keys(this, pageKeys(this), () => keySections(this));
    this.guidelines = new Guidelines(this);
    new LongQuestion(this);
    const past = this.querySelector("[data-past-button]");
    const more = this.bar.querySelector(":scope > [data-more-actions]");
    more?.addEventListener("click", () => {
      const isWhole = this.bar.toggleAttribute("data-all");
      more.setAttribute("aria-expanded", String(isWhole));
    });
    this.querySelector("[data-examples-button]")?.addEventListener("click", () => {
      this.panels.closePanels();
      this.lookback.showExamples();
    });
    past?.addEventListener("click", () => {
      this.panels.closePanels();
      this.lookback.lookAround((strip) => strip.toggle());
    });
    if (document.querySelector("[data-session-live]")) this.lookback.showSession();
    if (past && isKeptOpen(PAST)) this.lookback.lookAround((strip) => strip.toggle(true));
    this.form.querySelector("button.sr[value=save]")?.remove(); // what Enter presses without scripts
    this.dataset.laid = ""; // hides what is only for pages without scripts, if laid-out.js has not
    this.dataset.ready = "";
    growWithPage(this.form, this.bar);
    this.#listen();
    this.submission.done = recall(this.submission.store());
    const last = this.dataset.lastAnnotation;
    if (last && !this.submission.done.includes(last)) this.submission.done.push(last);
    this.show(item, { first: true });
    if (this.practice) this.exercise();
    else setInterval(() => this.saving.ping(), PING);
    addEventListener("online", () => this.saving.carryOut());
  }

  /** @param {ItemAssignment} assignment @param {{first?: boolean, said?: string, isBack?: boolean}} options */
  show(assignment, { first = false, said = "", isBack = false } = {}) {
    const isOther = (/** @type {"guidelines" | "version"} */ name) => assignment[name] !== this.current[name];
    if (!first && !this.practice && !this.lookback.home && /** @type {const} */ (["guidelines", "version"]).some(isOther)) {
      // It is shown with another version of the guidelines or the form: the page comes anew with it.
      location.assign(`${location.pathname}?assignment=${assignment.id}`);
      return;
    }
    if (!first) document.querySelector("[data-guidelines-changed]")?.remove();
    const again = this.display.tellSameQuestion(first ? null : this.current, assignment);
    this.current = assignment;
    this.begun.begin();
    this.submission.confirmed = [];
    this.requirements.server = null;
    this.values.setUnsure(false);
    this.places.changes[0]?.replaceChildren();
    this.status.setProgress(assignment.progress, assignment.annotation ? 0 : 1);
    this.panels.closePanels();
    if (!first && !isBack && !this.lookback.home) this.panels.forgetNotes();
    this.requirements.silence();
    this.guidelines.begin(assignment.progress?.submitted ?? 0); // before the table is fitted to the room that is left
    this.checklist.begin();
    this.display.fillShown(assignment);
    const held = /** @type {DraftReply & {outdated?: string}} */ (assignment.draft);
    const empty = this.values.blank();
    const stored = held?.response?.data ?? empty;
    const copy = copyOf(assignment.id);
    const unheard = copy?.unheard ?? [];
    const revision = held?.revision ?? 0;
    const isOvertaken = copy?.response?.base === assignment.base && copy.revision > revision; // saved after this page was made
    const onServer = isOvertaken ? (copy.saved ? copy.response : null) : held?.response ?? this.values.envelope(empty);
    if (!this.lookback.home) this.item.hear({ type: "open", id: assignment.id, revision: isOvertaken ? copy.revision : revision, stored: onServer, unheard, isBack });
    const equal = same(copy?.response?.data, stored) && Boolean(copy?.response?.unsure) === Boolean(held?.response?.unsure);
    const kept = /** @type {DraftReply & typeof copy} */ (copy && copy.response?.base === assignment.base && !equal && (isOvertaken || !copy.saved) ? copy : null);
    const conflict = kept !== null && Boolean(held) && kept.revision < held.revision && !unheard.includes(digest(held.response));
    this.values.setUnsure(Boolean((kept && !conflict ? kept : held)?.response?.unsure));
    const fits = this.values.fill(kept && !conflict ? kept.response.data : stored);
    this.grid?.say(""); // what the table said last was of the item before
    this.status.clearNotices();
    if (first && recall(WISH).includes(assignment.id)) this.status.notice(t("Your response is not submitted."), "note", "submit", () => this.submission.submit(), t("Submit"));
    if (!fits) this.status.notice(t("The saved changes do not fit this table. The original table is shown."));
    this.status.state(held && !kept && !this.practice && !this.lookback.home ? t`${said} Saved ${clock(held.saved_at)}`.trim() : said);
    this.status.lastingMessage = said;
    if (kept && !conflict) {
      if (!kept.saved) this.status.notice(t("Your unsaved changes were restored."), "note");
      this.changed();
    } else {
      if (!kept && !this.practice && !this.lookback.home) forget(assignment.id);
      this.requirements.refresh();
      if (held && fits) this.requirements.askVerdict(held);
    }
    if (conflict) this.saving.chooseVersion(() => kept.response, held);
    if (held?.outdated) this.status.notice(held.outdated, "note");
    if (assignment.sent_back) this.status.notice(t`Sent back to you: ${assignment.sent_back}`, "note");
    this.status.tellAnswers(assignment.answers);
    if (assignment.annotation) {
      this.status.notice(t("You already submitted this item. Submitting again replaces that response."), "note");
    }
    this.#hidden("assignment", assignment.id);
    this.#hidden("base", assignment.base);
    if (!first || !document.activeElement || document.activeElement === document.body) this.focusStart();
    this.status.announce([first ? this.display.instruction() : said, again || this.display.asked()].filter(Boolean).join(" "));
    this.guidelines.pointAtChoices(this.panel);
    this.tell("item-shown", { assignment });
    if (first) this.commits.arranged();
    else this.commits.shown();
    if (assignment.suggests === "before" && !this.practice) this.#askSuggestions(assignment.id);
    if (!this.practice && !this.lookback.home) this.item.hear({ type: "fetchAhead" });
  }

  /* To the elements of the kind, wherever in the form they are. */
  /** @param {string} name @param {object} detail */
  tell(name, detail) {
    for (const part of outside(this, "[data-hears]")) part.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /* Suggestions come when they come: nothing waits for them, and those of another item are dropped. */
  /** @param {string} id */
  async #askSuggestions(id) {
    try {
      const { suggestions, reason } = await send("GET", `${this.dataset.api}assignments/${id}/suggestions/`);
      this.#suggest(id, { suggestions, reason });
    } catch (problem) {
      this.#suggest(id, { suggestions: null, reason: /** @type {Error} */ (problem).message });
    }
  }

  /** @param {string} id @param {object} detail */
  #suggest(id, detail) {
    if (id !== this.current.id) return;
    this.tell("item-suggested", detail);
    this.requirements.refresh(); // what is missing, and which step is the current one
  }

  /* Go where an item begins. */
  focusStart() {
    const [start] = outside(this, "[data-start]");
    if (start) {
      start.focus({ preventScroll: true }); // the question comes first, also on a phone
      scrollTo({ top: 0 });
    } else if (this.operationsField || (this.cellsField && !this.#asksBefore(this.cellsField))) this.grid.focusCell();
    else {
      (this.querySelector(".asked:not([hidden]) .question") ?? this.querySelector(".instruction"))?.focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
  }

  /* Whether a choice comes before a field: its keys act only outside the table. */
  /** @param {Field} field */
  #asksBefore(field) {
    return this.fields.slice(0, this.fields.indexOf(field)).some(({ dataset }) => ["choice", "choices"].includes(dataset.kind));
  }

  toTable() {
    if (this.comparison) this.comparison.focusTable();
    else if (this.grid.editing) this.grid.focusCell();
    else this.grid.querySelector(".sheet")?.focus();
  }

  #listen() {
    this.form.addEventListener("submit", (event) => {
      if (event.submitter?.hasAttribute("formaction")) return; // to another page, with what is written in the form
      event.preventDefault();
      this.panels.act(/** @type {HTMLButtonElement | null} */ (event.submitter)?.value ?? "submit");
    });
    for (const form of document.querySelectorAll("form[data-action]")) {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.panels.act(form.dataset.action);
      });
    }
    this.commits = new Commits(this, (group) => !this.isSending && this.turns.isWritten() && this.turns.commit(/** @type {Field} */ (group)));
    this.form.addEventListener("input", (event) => event.target.closest("[data-field]") && this.#changedSoon());
    this.form.addEventListener("change", (event) => {
      if (event.target.matches("[type=radio], [type=checkbox], [data-kind=json]")) this.changed();
    });
    this.addEventListener("grid-change", ({ detail }) => {
      if (!this.operationsField && !this.cellsField) return;
      if (detail.typing) this.#changedSoon();
      else this.changed();
    });
    addEventListener("pagehide", () => this.changing && this.changed(), { capture: true });
    document.addEventListener("visibilitychange", () => this.changing && this.changed(), { capture: true });
    this.addEventListener("grid-submit", () => this.submission.submit());
    this.addEventListener("grid-leave", () => this.panels.toActions());
    this.addEventListener("click", (event) => {
      const back = event.target.closest("[data-take-back]");
      if (back) {
        this.grid.takeBack(Number(back.dataset.takeBack));
        this.toTable(); // the button goes with its change; on the next one, Enter would take back one more
      }
      if (event.target.closest("[data-help]")) this.keys.help();
      if (event.target.closest("[data-unsure]")) this.toggleUnsure();
      const hide = event.target.closest("[data-hide-marked]");
      if (hide) {
        const hidden = hide.getAttribute("aria-pressed") !== "true";
        hide.setAttribute("aria-pressed", String(hidden));
        this.grid.hideMarked(hidden);
      }
    });
    this.addEventListener("keydown", (event) => this.panels.onKey(/** @type {At<KeyboardEvent, PagePart<HTMLInputElement>>} */ (event)));
    this.addEventListener("focusin", (event) => this.panels.typing(event.target));
    this.addEventListener("focusout", (event) => this.panels.typing(event.relatedTarget));
    for (const panel of this.bar.querySelectorAll("details[data-panel]")) {
      panel.addEventListener("toggle", () => panel.open && this.panels.closePanels(panel));
    }
    // What is pressed while a submission is on its way belongs to no item. What an input method composes cannot be prevented:
    // it is taken back.
    let before = "";
    for (const kind of ["keydown", "beforeinput", "input", "click", "paste"]) {
      this.addEventListener(/** @type {"input"} */ (kind), (event) => {
        if (!this.isSending || (kind === "input" && !/** @type {InputEvent} */ (/** @type {unknown} */ (event)).inputType)) return;
        if (kind === "beforeinput") before = event.target.value;
        if (kind === "input") event.target.value = before;
        event.preventDefault();
        event.stopImmediatePropagation();
      }, { capture: true });
    }
    // Who reads a table moves over it, and perhaps does no more.
    for (const kind of ["keydown", "pointerdown", "pointermove", "input", "wheel", "scroll"]) {
      addEventListener(kind, () => this.saving.active(), { passive: true, capture: true });
    }
  }

  /* Put a response into the form as if somebody had entered it; null empties the form. */
  /** @param {Record<string, any> | null} data */
  put(data) {
    this.values.fill(data ?? this.values.blank());
    for (const field of this.fields) {
      if (field.dataset.kind === "text") inputOf(field).dispatchEvent(new Event("input", { bubbles: true }));
    }
    this.grid?.dispatchEvent(new CustomEvent("grid-change", { bubbles: true, detail: { typing: false } }));
    this.changed();
  }

  /* Whether nothing is entered. */
  get isBlank() {
    return same(this.values.collect(), this.values.blank());
  }

  /* What is entered now, as it would be submitted. */
  get response() {
    return this.values.envelope(this.values.collect());
  }

  toggleUnsure() {
    this.values.setUnsure(!this.values.unsure);
    this.changed();
    this.status.announce(this.values.unsure ? t("Marked as not sure.") : t("No longer marked as not sure."));
  }

  /* While somebody types, the letter is painted first and looked at then. */
  #changedSoon() {
    if (this.changing) return;
    this.changing = true;
    requestAnimationFrame(() => setTimeout(() => this.changing && this.changed()));
  }

  changed() {
    this.changing = false;
    this.saving.active();
    this.submission.confirmed = [];
    this.status.clearNotices("submit");
    this.status.clearNotices("key");
    this.status.unsay();
    this.status.announce("");
    if (this.dataset.practice) this.bar.querySelector("[data-feedback]").hidden = true; // it was about what was here before
    this.item.change(this.response);
    this.requirements.refresh();
    this.requirements.tellChecked(); // back at what the server has seen: it is not sent again
    this.tell("response-entered", {});
    if (this.current.shows.program?.guards?.length) this.grid.protect(this.requirements.contract()?.protected ?? []);
  }

  /* Whether something is on its way that ends the item or needs the whole page. */
  get isSending() {
    return this.isGuarded || this.item.isBusy;
  }

  drawBusy() {
    this.form.ariaBusy = this.isSending ? "true" : null;
  }

  /** @param {() => Promise<unknown>} work @param {(problem: Problem) => unknown} handled */
  async guard(work, handled = () => false) {
    if (this.isSending) return;
    this.isGuarded = true;
    this.drawBusy();
    this.status.clearNotices("submit");
    try {
      await work();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (!handled(problem)) this.status.say(problem);
    } finally {
      this.isGuarded = false;
      this.drawBusy();
    }
  }

  /** @param {Field} field */
  focusField(field) {
    const input = field.matches("input, textarea, select") ? field : field.querySelector("input, textarea, select");
    input?.focus();
  }

  /** @param {string} name @param {string} value */
  #hidden(name, value) {
    for (const input of document.querySelectorAll(`input[type=hidden][name=${name}]`)) input.value = value;
  }

  /** @param {string} action @param {string} id */
  url(action, id = this.current.id) {
    return `${this.dataset.api}assignments/${id}/${action}/`;
  }

  // --- for other modules: keys.js, proposals.js --------------------------------------------------------------

  submit() {
    return this.submission.submit();
  }

  /** @param {readonly KeyAction[]} actions @param {string} text @param {TypedNumber | null} typed */
  choose(actions, text, typed) {
    this.turns.choose(/** @type {readonly KeyOption[]} */ (actions), text, typed);
  }

  /** @param {TypedNumber} typed */
  endNumber(typed) {
    return this.turns.endNumber(typed);
  }
}

/* What of the page is written to at every change: looked up once, for a table beside it may be huge. */
const PLACES = {
  checklist: ".contract",
  holds: "[data-holds]",
  violations: "[data-violations]",
  changes: "[data-changes]",
  count: "[data-changes-count]",
  hint: "[data-changes-hint]",
  ready: "[data-ready-to-submit]",
  steps: "[data-step]",
  conditional: "[data-unless-waived], [data-over-limit]",
  answer: "[data-answer]",
  when: "[data-condition]",
  commits: "[data-commits]",
};

customElements.define("askew-annotate", AskewAnnotate);
