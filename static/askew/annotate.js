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

import { readAnswers, writeAnswers } from "./answers.js";
import { counted, t } from "./language.js";
import { Problem, send } from "./api.js";
import { Begun } from "./begun.js";
import { Checklist } from "./checklist.js";
import { Commits } from "./commits.js";
import { comparisonKeys } from "./comparison-keys.js";
import { applyConditions, empty, lackOf, offerAnswers, offerRanks, swapRanks } from "./conditions.js";
import { copyOf, digest, forget, same } from "./draft.js";
import { Focus } from "./focus.js";
import { AskewGrid } from "./grid.js";
import { Guidelines } from "./guidelines.js";
import { FormItem, Item, PracticeItem } from "./item.js";
import { SLOT_GONE } from "./item-state.js";
import { Keys, outside, writes } from "./keys.js";
import { growWithPage } from "./long-choices.js";
import { LongQuestion } from "./long-question.js";
import { Steps } from "./steps.js";
import { chooseVersion } from "./versions.js";
import { count, describe } from "./words.js";

const PING = 30_000; // ms between signs of life
const ACTIVE = 60_000; // ms after the last key or pointer that somebody still counts as active
const SETTLED = 600; // ms without a change until what holds is read out

class AskewAnnotate extends HTMLElement {
  #current = null;
  #fetchedAt = 0; // when the waiting item came
  #done = []; // annotations submitted here, newest last
  #answered = new Set(); // answers to questions that this page has shown
  #readAnswers = []; // of these, those that were beside the current item, whole
  #isGuarded = false; // while something is on its way that needs the whole page
  #handed = false;
  #changing = false;
  #progress = null;
  #server = null; // violations and answer of the last saved draft
  #lastActive = Date.now();
  #counting = null; // timer of the seconds until the next try
  #said = ""; // message beside the progress bar that stays until something is entered
  #held = new Map(); // what was said of each line of the contract
  #reading = null; // timer of what holds
  #confirmed = []; // codes of the unmet conditions that the next submission confirms
  #home = null; // the current item while an earlier one is looked back on (past.js)
  #ownSession = null; // a promise of the session, once it is shown
  #strip = null; // a promise of the strip of earlier items, once somebody has asked for it
  #rank = ""; // the option of the rank that has the focus
  #due = null; // the question that is missing first, where choices submit
  #again = []; // groups of choices that were all made when the item came, and not yet made again by key

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
    [this.notices] = outside(this.bar, "[data-notices]");
    this.places = Object.fromEntries(Object.entries(PLACES).map(([name, selector]) => [name, outside(this, selector)]));
    this.operationsField = this.fields.find((field) => field.dataset.kind === "operations") ?? null;
    const item = JSON.parse(source.textContent);
    const able = !this.grid || AskewGrid.can(item.grid, this.operationsField !== null);
    if (missing || !able) return; // a script did not come: without it only the plain page is whole
    this.begun = new Begun();
    new Focus(this, () => this.#focusStart());
    this.steps = new Steps(this.places.steps, this.fields);
    this.cellsField = this.fields.find((field) => field.dataset.kind === "cells") ?? null;
    const onTable = this.operationsField ?? this.cellsField;
    this.checklist = new Checklist(this.places.checklist[0] ?? null, this.places.holds, this.places.ready[0] ?? null, onTable, (field) => (field === onTable ? this.#toTable() : this.#focusField(field)));
    this.practice = this.dataset.practice ?? this.dataset.hands ?? null;
    this.item = this.practice ? new ("itemId" in this.dataset ? FormItem : PracticeItem)() : new Item(this.#pageOfItem());
    this.keys = new Keys(this, [
      { name: "submit", key: "Enter", label: t("Submit"), run: () => this.submit() },
      { name: "skip", key: "s", label: t("Skip this item"), run: () => this.#openPanel("skip") },
      { name: "flag", key: "g", label: t("Flag this item"), run: () => this.#openPanel("flag") },
      ...(this.querySelector("[data-panel=ask]") ? [
        { name: "ask", key: "q", label: t("Ask the managers"), run: () => this.#openPanel("ask") },
      ] : []),
      ...(this.bar.querySelector("[data-unsure]") ? [
        { name: "unsure", key: "l", label: t("Not sure, or sure again"), run: () => this.#toggleUnsure() },
      ] : []),
      { name: "undo", key: "u", label: t("Undo last submission"), run: () => this.undo() },
      ...(this.querySelector("[data-past]") ? [
        { name: "examples", key: "e", label: t("Show examples of earlier work"), run: () => this.#showExamples() },
        { name: "back", key: "p", label: t("Previous items: one back"), run: () => this.#lookAround((past) => past.step(1)) },
        { name: "forward", key: "f", label: t("Previous items: one forward"), run: () => this.past?.step(-1) },
      ] : []),
      { name: "table", key: "t", label: t("Go to the table"), run: () => this.#toTable() },
      ...comparisonKeys(this.comparison),
      { name: "guidelines", key: "i", label: t("Show or hide the guidelines"), run: () => this.guidelines.toggle() },
      { name: "help", key: "?", label: t("Show keyboard shortcuts"), run: () => this.keys.help() },
      ...(this.form.querySelector("[data-hide-marked]") ? [
        { name: "evidence", key: "h", label: t("Show or hide the marked cells"), run: () => this.#toggleMarked() },
      ] : []),
    ], () => this.#keySections());
    this.guidelines = new Guidelines(this, () => this.#focusStart());
    new LongQuestion(this);
    const past = this.querySelector("[data-past-button]");
    const more = this.bar.querySelector(":scope > [data-more-actions]");
    more?.addEventListener("click", () => {
      const isWhole = this.bar.toggleAttribute("data-all");
      more.setAttribute("aria-expanded", String(isWhole));
    });
    this.querySelector("[data-examples-button]")?.addEventListener("click", () => {
      this.#closePanels();
      this.#showExamples();
    });
    past?.addEventListener("click", () => {
      this.#closePanels();
      this.#lookAround((strip) => strip.toggle());
    });
    if (document.querySelector("[data-session-live]")) this.showSession();
    if (past && wasOpen(PAST)) this.#lookAround((strip) => strip.toggle(true));
    this.form.querySelector("button.sr[value=save]")?.remove(); // what Enter presses without scripts
    this.dataset.laid = ""; // hides what is only for pages without scripts, if laid-out.js has not
    this.dataset.ready = "";
    growWithPage(this.form, this.bar);
    this.#listen();
    this.#done = recall(this.#store());
    const last = this.dataset.lastAnnotation;
    if (last && !this.#done.includes(last)) this.#done.push(last);
    this.#show(item, { first: true });
    if (!this.practice) setInterval(() => this.#ping(), PING);
    addEventListener("online", () => this.#carryOut());
  }

  /* Further tables for the list of keys: those of the table in its mode, and those of the kind's own elements. */
  async #keySections() {
    const { gridKeys } = await import("./grid-keys.js");
    const { grid: mode, contract } = this.#current;
    const own = outside(this, "[data-hears]").map(({ keyTable }) => keyTable).filter(Boolean);
    if (!this.grid && !this.comparison) return own;
    return [...own, { title: t("In the table"), rows: gridKeys(this.comparison ? "compare" : mode, contract?.allowed ?? null) }];
  }

  // --- one item ----------------------------------------------------------------------------------------------------

  #show(assignment, { first = false, said = "", isBack = false } = {}) {
    const isOther = (name) => assignment[name] !== this.#current[name];
    if (!first && !this.practice && !this.#home && ["guidelines", "version"].some(isOther)) {
      // It is shown with another version of the guidelines or the form: the page comes anew with it.
      location.assign(`${location.pathname}?assignment=${assignment.id}`);
      return;
    }
    if (!first) document.querySelector("[data-guidelines-changed]")?.remove();
    const again = this.#tellSameQuestion(first ? null : this.#current, assignment);
    this.#current = assignment;
    this.begun.begin();
    this.#confirmed = [];
    this.#server = null;
    this.#setUnsure(false);
    this.places.changes[0]?.replaceChildren();
    this.#setProgress(assignment.progress, assignment.annotation ? 0 : 1);
    this.#closePanels();
    if (!first && !isBack && !this.#home) this.#forgetNotes();
    this.#silence();
    this.guidelines.begin(assignment.progress?.submitted ?? 0); // before the table is fitted to the room that is left
    this.checklist.begin();
    this.#fillShown(assignment);
    const held = assignment.draft;
    const empty = this.#blank();
    const stored = held?.response?.data ?? empty;
    const copy = copyOf(assignment.id);
    const unheard = copy?.unheard ?? [];
    const revision = held?.revision ?? 0;
    const isOvertaken = copy?.response?.base === assignment.base && copy.revision > revision; // saved after this page was made
    const onServer = isOvertaken ? (copy.saved ? copy.response : null) : held?.response ?? this.#envelope(empty);
    if (!this.#home) this.item.hear({ type: "open", id: assignment.id, revision: isOvertaken ? copy.revision : revision, stored: onServer, unheard, isBack });
    const equal = same(copy?.response?.data, stored) && Boolean(copy?.response?.unsure) === Boolean(held?.response?.unsure);
    const kept = copy && copy.response?.base === assignment.base && !equal && (isOvertaken || !copy.saved) ? copy : null;
    const conflict = kept !== null && Boolean(held) && kept.revision < held.revision && !unheard.includes(digest(held.response));
    this.#setUnsure(Boolean((kept && !conflict ? kept : held)?.response?.unsure));
    const fits = this.#fill(kept && !conflict ? kept.response.data : stored);
    this.grid?.say(""); // what the table said last was of the item before
    this.#clearNotices();
    if (first && recall(WISH).includes(assignment.id)) this.#notice(t("Your response is not submitted."), "note", "submit", () => this.submit(), t("Submit"));
    if (!fits) this.#notice(t("The saved changes do not fit this table. The original table is shown."));
    this.#state(held && !kept && !this.practice && !this.#home ? t`${said} Saved ${clock(held.saved_at)}`.trim() : said);
    this.#said = said;
    if (kept && !conflict) {
      if (!kept.saved) this.#notice(t("Your unsaved changes were restored."), "note");
      this.#changed();
    } else {
      if (!kept && !this.practice && !this.#home) forget(assignment.id);
      this.#refresh();
      if (held && fits) this.#askVerdict(held);
    }
    if (conflict) this.#choose(kept.response, held);
    if (held?.outdated) this.#notice(held.outdated, "note");
    if (assignment.sent_back) this.#notice(t`Sent back to you: ${assignment.sent_back}`, "note");
    this.#tellAnswers(assignment.answers);
    if (assignment.annotation) {
      this.#notice(t("You already submitted this item. Submitting again replaces that response."), "note");
    }
    this.#hidden("assignment", assignment.id);
    this.#hidden("base", assignment.base);
    if (!first || !document.activeElement || document.activeElement === document.body) this.#focusStart();
    this.#announce([first ? this.#instruction() : said, again || this.#asked()].filter(Boolean).join(" "));
    this.guidelines.pointAtChoices(this.panel);
    this.#tell("item-shown", { assignment });
    if (first) this.commits.arranged();
    else this.commits.shown();
    if (assignment.suggests === "before" && !this.practice) this.#askSuggestions(assignment.id);
    if (!this.practice && !this.#home) this.item.hear({ type: "fetchAhead" });
  }

  /* Why the last item was skipped, and what was about to be written to the managers, is nothing about this one. */
  #forgetNotes() {
    document.querySelector("form[data-action=skip]")?.reset();
    for (const name of ["flag_note", "ask_text"]) if (this.form.elements[name]) this.form.elements[name].value = "";
  }

  #instruction() {
    const words = this.querySelector(".instruction").textContent;
    return words.endsWith("?") ? words : `${words}.`;
  }

  #asked() {
    return [...this.querySelectorAll(".asked > :is(h2, p)")].map(({ textContent }) => textContent).join(": ");
  }

  /* Where several answers to one question are rated, say which of them this is. It moves in when it takes the place of
     another one, as nothing else on the page would change. Returns the words for who does not see that, or "". */
  #tellSameQuestion(before, { same_question: answers, shows, base }) {
    const place = this.querySelector("[data-same-question]");
    if (!place) return "";
    const { number, total } = answers ?? { number: 1, total: 1 };
    place.hidden = number < 2;
    place.textContent = t`Same question, another answer: ${number} of ${total}`;
    const replaces = before !== null && before.base === base && before.shows.question === shows.question
      && before.shows.rated_answer !== shows.rated_answer;
    const section = place.closest(".rated");
    section.classList.remove("replaced");
    if (!replaces) return "";
    section.getBoundingClientRect(); // laid out without the class, it moves in once more
    section.classList.add("replaced");
    return place.hidden ? "" : `${place.textContent}. ${shows.rated_answer}`;
  }

  /* A draft that one comes back to is judged as one that is saved. */
  async #askVerdict({ response }) {
    if (this.practice || this.#home || !this.#asksServer()) return;
    const { id } = this.#current;
    const data = this.#collect(); // as the form has it: a withdrawn response is stored as the server writes it
    const reply = await this.item.check(response);
    if (!reply || id !== this.#current.id || this.#server || !same(this.#collect(), data)) return;
    this.#take(reply, { data });
    this.#refresh();
  }

  #asksServer() {
    return this.places.holds.some((line) => "server" in line.dataset);
  }

  #take({ violations, answer }, { data }) {
    this.#server = { data, violations, answer };
    this.#tellChecked();
  }

  /* What the server said of what is here now. Of what was here before nothing is told: an answer to that comes, too. */
  #tellChecked() {
    if (!this.#server || !same(this.#server.data, this.#collect())) return;
    const { violations, answer } = this.#server;
    this.#tell("draft-checked", { violations, answer });
  }

  /* To the elements of the kind, wherever in the form they are. */
  #tell(name, detail) {
    for (const part of outside(this, "[data-hears]")) part.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /* Suggestions come when they come: nothing waits for them, and those of another item are dropped. */
  async #askSuggestions(id) {
    try {
      const { suggestions, reason } = await send("GET", `${this.dataset.api}assignments/${id}/suggestions/`);
      this.#suggest(id, { suggestions, reason });
    } catch (problem) {
      this.#suggest(id, { suggestions: null, reason: problem.message });
    }
  }

  #suggest(id, detail) {
    if (id !== this.#current.id) return;
    this.#tell("item-suggested", detail);
    this.#refresh(); // what is missing, and which step is the current one
  }

  #toggleMarked() {
    const button = this.form.querySelector("[data-hide-marked]");
    if (button) button.click();
  }

  #fillShown(assignment) {
    const { shows } = assignment;
    for (const field of this.fields.filter(({ dataset }) => "ranks" in dataset)) offerRanks(field, shows.answers);
    const choices = this.fields.filter(({ dataset }) => "of" in dataset);
    for (const field of choices) offerAnswers(field, shows.answers);
    if (choices.length) this.keys.label();
    for (const place of outside(this, "[data-show]")) {
      const value = shows[place.dataset.show];
      place.closest("[data-only-with]")?.toggleAttribute("hidden", empty(value));
      if (place.shown) place.shown(value, assignment);
      else (SHOW[place.dataset.show] ?? SHOW.text)(place, value, shows);
    }
  }

  #focusStart() {
    const [start] = outside(this, "[data-start]");
    if (start) {
      start.focus({ preventScroll: true }); // the question comes first, also on a phone
      scrollTo({ top: 0 });
    } else if (this.operationsField || (this.cellsField && !this.#asksBefore(this.cellsField))) this.grid.focusCell();
    else {
      this.querySelector(".question[data-show]")?.focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
  }

  /* Whether a choice comes before a field: its keys act only outside the table. */
  #asksBefore(field) {
    return this.fields.slice(0, this.fields.indexOf(field)).some(({ dataset }) => ["choice", "choices"].includes(dataset.kind));
  }

  #toTable() {
    if (this.comparison) this.comparison.focusTable();
    else if (this.grid.editing) this.grid.focusCell();
    else this.grid.querySelector(".sheet")?.focus();
  }

  // --- what is entered ---------------------------------------------------------------------------------------------

  #listen() {
    this.form.addEventListener("submit", (event) => {
      if (event.submitter?.hasAttribute("formaction")) return; // to another page, with what is written in the form
      event.preventDefault();
      this.#act(event.submitter?.value ?? "submit");
    });
    for (const form of document.querySelectorAll("form[data-action]")) {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#act(form.dataset.action);
      });
    }
    this.commits = new Commits(this, (group) => !this.#isSending && this.#isWritten() && this.#commit(group));
    this.form.addEventListener("focusin", ({ target }) => { if (target.matches(".ranks select")) this.#rank = target.value; });
    this.form.addEventListener("input", ({ target }) => {
      if (!target.matches(".ranks select")) return;
      swapRanks(target, this.#rank);
      this.#rank = target.value;
    });
    this.form.addEventListener("input", (event) => event.target.closest("[data-field]") && this.#changedSoon());
    this.form.addEventListener("change", (event) => {
      if (event.target.matches("[type=radio], [type=checkbox], [data-kind=json]")) this.#changed();
    });
    this.addEventListener("grid-change", ({ detail }) => {
      if (!this.operationsField && !this.cellsField) return;
      if (detail.typing) this.#changedSoon();
      else this.#changed();
    });
    addEventListener("pagehide", () => this.#changing && this.#changed(), { capture: true });
    document.addEventListener("visibilitychange", () => this.#changing && this.#changed(), { capture: true });
    this.addEventListener("grid-submit", () => this.submit());
    this.addEventListener("grid-leave", () => this.#toActions());
    this.addEventListener("click", (event) => {
      const back = event.target.closest("[data-take-back]");
      if (back) this.#takeBack(Number(back.dataset.takeBack));
      if (event.target.closest("[data-help]")) this.keys.help();
      if (event.target.closest("[data-unsure]")) this.#toggleUnsure();
      const hide = event.target.closest("[data-hide-marked]");
      if (hide) {
        const hidden = hide.getAttribute("aria-pressed") !== "true";
        hide.setAttribute("aria-pressed", String(hidden));
        this.grid.hideMarked(hidden);
      }
    });
    this.addEventListener("keydown", (event) => this.#onKey(event));
    this.addEventListener("focusin", (event) => this.#typing(event.target));
    this.addEventListener("focusout", (event) => this.#typing(event.relatedTarget));
    for (const panel of this.bar.querySelectorAll("details[data-panel]")) {
      panel.addEventListener("toggle", () => panel.open && this.#closePanels(panel));
    }
    // What is pressed while a submission is on its way belongs to no item. What an input method composes cannot be prevented:
    // it is taken back.
    let before = "";
    for (const kind of ["keydown", "beforeinput", "input", "click", "paste"]) {
      this.addEventListener(kind, (event) => {
        if (!this.#isSending || (kind === "input" && !event.inputType)) return;
        if (kind === "beforeinput") before = event.target.value;
        if (kind === "input") event.target.value = before;
        event.preventDefault();
        event.stopImmediatePropagation();
      }, { capture: true });
    }
    // Who reads a table moves over it, and perhaps does no more.
    for (const kind of ["keydown", "pointerdown", "pointermove", "input", "wheel", "scroll"]) {
      addEventListener(kind, () => this.#active(), { passive: true, capture: true });
    }
  }

  #onKey(event) {
    const panel = event.target.closest("details[data-panel][open]");
    if (event.key === "F2" && event.target.matches("textarea, input[type=text]")) { // as in a cell: append to it
      event.preventDefault();
      event.target.setSelectionRange(event.target.value.length, event.target.value.length);
    } else if (event.key === "Escape" && panel) {
      event.preventDefault();
      panel.open = false;
      panel.querySelector("summary").focus();
    } else if (event.key === "Escape" && writes(event.target)) {
      event.preventDefault();
      this.#toActions();
    } else if (panel?.dataset.panel === "skip" && this.#skipsBecause(event)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.isComposing && this.#enters(event, panel)) {
      event.preventDefault();
      if (!event.repeat) this.#act(panel?.dataset.panel ?? "submit");
    }
  }

  /* A digit in the panel of skip is one of the reasons, and done: nothing is chosen for anybody beforehand. */
  #skipsBecause({ key, target, ctrlKey, metaKey, altKey, repeat }) {
    if (ctrlKey || metaKey || altKey || repeat || writes(target) || !/^[1-9]$/u.test(key)) return false;
    const reason = [...document.querySelectorAll("input[name=skip_reason]")][Number(key) - 1];
    if (!reason) return false;
    reason.checked = true;
    this.skip();
    return true;
  }

  /* The button goes with its change. The focus returns to the table: on the next button, Enter would take back one more. */
  #takeBack(index) {
    this.grid.takeBack(index);
    this.#toTable();
  }

  #toActions() {
    (this.#onward() ?? this.bar.querySelector("button[value=submit]")).focus();
  }

  /* In practice, once a response was judged: the button that leads to what comes next. */
  #onward() {
    return this.bar.querySelector("[data-feedback]:not([hidden]) button.primary");
  }

  /* Whether this Enter acts for the whole item, or for the panel it is pressed in. Alone it does so in a panel only, and
     where it has no meaning of its own; elsewhere it is a key that can be moved (keys.js). */
  #enters({ target, ctrlKey, metaKey, shiftKey }, panel) {
    if (ctrlKey || metaKey) return Boolean(panel) || !target.closest("a, [data-feedback]");
    // A field of a single line, in which Enter submits; Shift Enter begins a second line, and from then on Enter is a line.
    if (target.matches("[data-enter-submits]")) return !shiftKey && target.value.trim() !== "" && !target.value.includes("\n");
    return Boolean(panel) && !target.closest("button, a, summary, textarea");
  }

  /* Choose by key: among the inputs that share the key, the one whose group has no choice yet. Where several groups
     were all chosen when the item came (a submission that was undone), they are gone through once more. Of questions
     that are answered in turn, a key that the one whose turn it is does not have changes none of the others. */
  choose(actions, text, typed) {
    const inputs = actions.map(({ input }) => input);
    let input = typed ? inputs[0] : this.#aim(inputs);
    this.#clearNotices("key");
    if (!input) {
      const key = this.keys.shown(text);
      const turn = this.#committing().find((group) => this.#isOpen(group));
      if (turn) return this.#notice(t`“${turn.dataset.label}” has no option ${key}. Nothing was changed.`, "note", "key");
      input = inputs.find((each) => each.closest("[data-field]").contains(document.activeElement));
      if (!input) return this.#notice(t("Every question is answered. Go to the one you want to change."), "note", "key");
    }
    if (input.matches("button")) return input.click();
    const group = input.closest("[data-field]");
    const options = actions.filter((action) => group?.contains(action.input));
    const goesOn = options.some(({ key }) => key.length > text.length); // one more digit makes another option of it
    if (goesOn) input = options.find(({ key }) => key === text)?.input ?? null;
    if (typed?.input?.type === "checkbox") typed.input.checked = !typed.input.checked; // it was the beginning of this one
    if (input?.type === "checkbox") input.checked = !input.checked;
    else if (input?.type === "radio") input.checked = true;
    else if (input) return this.#write(input);
    else for (const chosen of group.querySelectorAll("[type=radio]:checked")) chosen.checked = false; // no option has that number
    (input ?? options[0].input).dispatchEvent(new Event("change", { bubbles: true })); // as if it had been clicked; whoever hears it may move on
    if (input?.type === "radio") input.focus(); // where it was pressed, should the submission be refused
    if (goesOn) {
      this.keys.typed = { text, group, input };
      this.#notice(t`Typed: ${text}. Type the next digit, or press Enter.`, "note", "key");
    } else this.#commit(group);
  }

  /* Enter after a number: true where a further question is open, which Enter then leads to. */
  endNumber({ group }) {
    const [missing] = this.#missing();
    if (!missing || missing[0] === group) return false;
    this.#clearNotices("key");
    this.#focusField(missing[0]);
    return true;
  }

  /* The one of the inputs that their key acts on; undefined where the questions in turn have it for none that is open. */
  #aim(inputs) {
    const groups = inputs.map((input) => input.closest("[data-field]"));
    let index = groups.findIndex((group) => group && !group.querySelector(":checked"));
    if (index < 0) index = groups.findIndex((group) => this.#again.includes(group));
    const turns = this.#committing();
    if (index < 0 && turns.length > 1 && inputs.every(({ type }, at) => type === "radio" && turns.includes(groups[at]))) return undefined;
    return inputs[Math.max(0, index)];
  }

  #isOpen(group) {
    return !group.querySelector(":checked") || this.#again.includes(group);
  }

  /* A choice was made, by key or pointer: when it was the last one that was open, the item is submitted. Where numbers of
     several digits are typed, Enter does that. */
  #commit(group) {
    const turns = this.#committing();
    this.#again = this.#again.filter((one) => one !== group);
    const isComplete = !this.#again.length && turns.every((field) => field.querySelector(":checked"));
    if (turns.includes(group) && isComplete && !this.keys.takesNumbers(turns)) this.submit();
  }

  /* Whether something is written in every required text: a choice made before is kept, and submits nothing. */
  #isWritten() {
    const texts = this.fields.filter(({ dataset }) => "required" in dataset && ["text", "lines"].includes(dataset.kind));
    return texts.every((field) => field.closest("[hidden]") || this.#isEntered(field));
  }

  /* Mark the choice whose turn it is, and the keys that would act on another one. */
  #markTurn() {
    const turns = this.#committing();
    const turn = turns.find((group) => this.#isOpen(group)) ?? turns.at(-1);
    for (const group of turns) group.toggleAttribute("data-turn", group === turn && turns.length > 1);
    const sharing = new Map();
    for (const { key, input } of this.keys.table()) if (input) sharing.set(key.toLowerCase(), [...sharing.get(key.toLowerCase()) ?? [], input]);
    for (const inputs of sharing.values()) {
      const aim = this.#aim(inputs);
      for (const input of inputs) input.closest("label")?.querySelector("kbd")?.toggleAttribute("data-elsewhere", Boolean(aim) && aim !== input);
    }
    this.#markDue(turns);
    this.#tellCommits(turns);
  }

  /* Mark the question that is missing first, in the order of the page: a small screen keeps only that in sight. That can be
     a question which a choice has led to, as what is wrong where a score is low. */
  #markDue(turns) {
    const followUps = turns.length ? this.#followUps() : [];
    const questions = this.fields.filter((field) => turns.includes(field) || followUps.includes(field));
    const due = questions.find((group) => this.#isOpen(group)) ?? turns.at(-1) ?? null;
    for (const field of this.fields) field.toggleAttribute("data-due", field === due && questions.length > 1);
    if (due === this.#due) return;
    if (followUps.includes(due)) this.#announce(due.dataset.required);
    else if (followUps.includes(this.#due)) this.commits?.moved();
    this.#due = due;
  }

  #followUps() {
    return this.fields.filter((field) => field.dataset.kind === "choices" && "required" in field.dataset && !field.closest("[hidden]"));
  }

  /* Below the last of the choices that submit: that they do. Until then Submit is no more prominent than the rest. */
  #tellCommits(turns) {
    const [line] = this.places.commits;
    if (!line) return; // practice submits nothing
    const submits = turns.length > 0 && this.#isWritten() && !this.keys.takesNumbers(turns);
    this.bar.toggleAttribute("data-choice-submits", submits && turns.some((group) => this.#isOpen(group)));
    // Before the person has written, and while another question is open, a choice submits nothing.
    line.hidden = !submits || this.#followUps().some((group) => this.#isOpen(group));
    if (!turns.length || turns.at(-1).contains(line)) return;
    for (const sentence of line.children) sentence.textContent = sentence.dataset[turns.length > 1 ? "several" : "single"];
    turns.at(-1).append(line);
  }

  /* Go on behind what is in a field; what was filled in is selected by the field itself, and replaced. */
  #write(input) {
    input.focus();
    if (input.matches("textarea, [type=text]") && input.selectionStart === input.selectionEnd) input.setSelectionRange(input.value.length, input.value.length);
  }

  #committing() {
    return this.fields.filter((field) => "commit" in field.dataset && !field.closest("[hidden]"));
  }

  #collect() {
    return Object.fromEntries(this.fields.map((field) => [field.dataset.field, COLLECT[field.dataset.kind](field, this.grid)]));
  }

  #blank() {
    return Object.fromEntries(this.fields.map((field) => [field.dataset.field, blankOf(field)]));
  }

  #fill(data) {
    let fits = true;
    const table = this.#current.shows.table;
    for (const field of this.fields) {
      const value = data[field.dataset.field] ?? blankOf(field);
      FILL[field.dataset.kind]?.(field, value);
    }
    const groups = this.#committing();
    this.#again = groups.length > 1 && groups.every((field) => field.querySelector(":checked")) ? groups : [];
    if (table) {
      const operations = this.operationsField ? data[this.operationsField.dataset.field] ?? [] : [];
      const { grid: mode, shows } = this.#current;
      const contract = this.#contract();
      fits = this.grid.show(table, operations, {
        mode,
        cells: this.cellsField ? data[this.cellsField.dataset.field] ?? [] : [],
        marks: (this.#home && this.cellsField ? data[this.cellsField.dataset.field] : shows.evidence?.cells) ?? [],
        allowed: contract?.allowed ?? null,
        limit: contract?.at_most ?? null,
        protected: contract?.protected ?? [],
      });
      this.form.querySelector("[data-hide-marked]")?.setAttribute("aria-pressed", "false");
    }
    return fits;
  }

  /* Put a response into the form as if somebody had entered it; null empties the form. */
  put(data) {
    this.#fill(data ?? this.#blank());
    for (const field of this.fields) {
      if (field.dataset.kind === "text") inputOf(field).dispatchEvent(new Event("input", { bubbles: true }));
    }
    this.grid?.dispatchEvent(new CustomEvent("grid-change", { bubbles: true, detail: { typing: false } }));
    this.#changed();
  }

  /* Go where an item begins. */
  start() {
    this.#focusStart();
  }

  /* Whether nothing is entered. */
  get isBlank() {
    return same(this.#collect(), this.#blank());
  }

  /* What is entered now, as it would be submitted. */
  get response() {
    return this.#envelope(this.#collect());
  }

  /* Resolves when the draft is saved, or cannot be at the moment. */
  async saved() {
    await this.item.flush();
  }

  #envelope(data) {
    const { type, variant, version, base } = this.#current;
    return { type, variant, version, base, data, ...(this.#unsure ? { unsure: true } : {}) };
  }

  get #unsure() {
    return this.bar.querySelector("[data-unsure]")?.getAttribute("aria-pressed") === "true";
  }

  #setUnsure(on) {
    this.bar.querySelector("[data-unsure]")?.setAttribute("aria-pressed", String(on));
  }

  #toggleUnsure() {
    this.#setUnsure(!this.#unsure);
    this.#changed();
    this.#announce(this.#unsure ? t("Marked as not sure.") : t("No longer marked as not sure."));
  }

  /* While somebody types, the letter is painted first and looked at then. */
  #changedSoon() {
    if (this.#changing) return;
    this.#changing = true;
    requestAnimationFrame(() => setTimeout(() => this.#changing && this.#changed()));
  }

  #changed() {
    this.#changing = false;
    this.#active();
    this.#confirmed = [];
    this.#clearNotices("submit");
    this.#clearNotices("key");
    this.#unsay();
    this.#announce("");
    if (this.dataset.practice) this.bar.querySelector("[data-feedback]").hidden = true; // it was about what was here before
    this.item.change(this.response);
    this.#refresh();
    this.#tellChecked(); // back at what the server has seen: it is not sent again
    this.#tell("response-entered", {});
    if (this.#current.shows.program?.guards?.length) this.grid.protect(this.#contract().protected);
  }

  // --- what must hold ----------------------------------------------------------------------------------------------

  #operations() {
    return this.operationsField ? this.grid.operations : [];
  }

  #waived() {
    return this.fields.some((field) => "waives" in field.dataset && COLLECT[field.dataset.kind](field));
  }

  /* The contract as it stands: what only the example's own program guards is free once another one counts, or none. */
  #contract() {
    const { contract, shows } = this.#current;
    const own = shows.program;
    const field = own?.guards?.length && contract?.protected ? this.fields.find((one) => one.dataset.field === "program") : null;
    const said = field?.value ?? null;
    if (said === null || same(said, own.program)) return contract;
    const free = new Set(own.guards.map(String));
    return { ...contract, protected: contract.protected.filter(([row, column]) => !free.has(String([row, column]))) };
  }

  #structure() {
    const { shows } = this.#current;
    const contract = this.#contract();
    if (!contract || !shows.table || this.#waived()) return [];
    const reason = this.fields.find((field) => field.dataset.field === "reason");
    return this.grid.violations(contract, reason ? COLLECT.text(reason) : "");
  }

  /* Say on the page what holds and what does not: structure by what is here now, answers by the last saved draft. */
  #refresh() {
    applyConditions(this.places.when, this.fields, (field) => COLLECT[field.dataset.kind](field, this.grid));
    const operations = this.#operations();
    const waived = this.#waived();
    const structure = this.#structure();
    const current = this.#server && same(this.#server.data, this.#collect());
    const known = new Set(structure.map(({ code }) => code));
    const further = current && !waived ? this.#server.violations.filter(({ code }) => !known.has(code)) : [];
    const violations = [...structure, ...further];
    const started = operations.length > 0 || this.fields.some((field) => !same(COLLECT[field.dataset.kind](field, this.grid), blankOf(field)));
    this.#listViolations(started && !waived ? violations.filter((one) => !this.places.holds.some(({ dataset }) => dataset.holds.split(" ").includes(one.code))) : []);
    this.#listChanges(operations);
    const limit = this.#current.contract?.at_most;
    const over = limit !== null && limit !== undefined && operations.length > limit;
    for (const part of this.places.conditional) {
      part.hidden = ("unlessWaived" in part.dataset && waived) || ("overLimit" in part.dataset && !over);
    }
    for (const place of this.places.answer) {
      const answers = this.#server?.answer?.[place.dataset.answer] ?? (place.dataset.answer === "before" ? this.#current.shows.answers : null);
      SHOW.answers(place, answers, place.dataset.answer === "before" ? this.#current.shows : {});
      place.closest("[data-only-with]")?.toggleAttribute("hidden", empty(answers));
    }
    this.checklist.update({
      violations, isChanged: operations.length > 0, waived, started, pending: !current, checks: !this.practice,
      lacks: (needs) => this.#lacks(needs), missing: this.#missing(),
    });
    this.steps.update((field) => this.#isEntered(field));
    this.#markTurn();
    clearTimeout(this.#reading);
    this.#reading = setTimeout(() => this.#readOut(), SETTLED);
  }

  /* What holds and what does not, read out when nothing has changed for a moment: only lines that say something new. */
  #readOut() {
    const words = [];
    for (const line of [...this.places.holds, ...this.places.violations]) {
      if (line.parentElement.closest("[hidden]")) continue; // a line that is not listed any more is done: that is news
      const now = line.dataset.holds
        ? `${line.firstElementChild.textContent}: ${[line.querySelector(".state").textContent, line.querySelector("[data-why]")?.textContent].filter(Boolean).join(". ")}`
        : [...line.children].map(({ textContent }) => textContent).join(" ");
      const open = !now || ["open", "waived"].includes(line.dataset.state);
      if (!open && this.#held.get(line) !== now) words.push(now);
      this.#held.set(line, open ? "" : now);
    }
    if (words.length) this.#announce(words.join(" "));
  }

  /* Whether an item has none of what a line of the checklist needs: protected cells, evidence, a program. */
  #lacks(needs) {
    const { shows } = this.#current;
    const contract = this.#contract();
    const there = { protected: Boolean(contract?.protected?.length), evidence: Boolean(shows.evidence), program: this.hasAttribute("data-program") };
    return Boolean(needs) && !needs.split(" ").some((name) => there[name]);
  }

  /* What fields still need: [field, sentence], in the order of the form. */
  #missing() {
    if (this.#waived()) return [];
    const valueOf = (field) => COLLECT[field.dataset.kind](field, this.grid);
    return this.fields.map((field) => [field, lackOf(field, this.fields, valueOf)]).filter(([, sentence]) => sentence);
  }

  /* Whether a person has said something in a field. A list of choices that came without any has nothing to say. */
  #isEntered(field) {
    const value = COLLECT[field.dataset.kind](field, this.grid);
    if (empty(value)) return field.localName === "askew-programs" && !field.asks;
    return field.dataset.kind !== "text" || value !== blankOf(field);
  }

  #listViolations(violations) {
    const [list] = this.places.violations;
    if (!list) return;
    const words = violations.map(({ message, level }) => (level === "warning" ? t`Please check: ${message}` : message));
    if (same(words, [...list.children].map((item) => item.textContent))) return;
    list.replaceChildren(...words.map((text) => make("li", { textContent: text })));
    list.hidden = !words.length;
  }

  #listChanges(operations) {
    const [list] = this.places.changes;
    if (!list) return;
    const table = this.#current.shows.table;
    const words = operations.slice(0, LISTED).map((operation) => describe(operation, table));
    if (operations.length > LISTED) words.push(t`and ${count(operations.length - LISTED, "more change")}`);
    const limit = this.#current.contract?.at_most;
    const [summary] = this.places.count;
    this.#hintAtLimit(operations.length, limit);
    if (summary) summary.textContent = count(operations.length, "change") + (Number.isInteger(limit) ? t`, at most ${limit}` : "");
    if (same(words, [...list.children].map((item) => item.firstChild.textContent))) return;
    list.replaceChildren(...words.map((text, index) => {
      const item = make("li");
      if (index === LISTED) {
        item.append(make("span", { className: "soft", textContent: text }));
        return item;
      }
      const back = make("button", { type: "button", className: "quiet small", textContent: t("Revert") });
      back.dataset.takeBack = index;
      back.setAttribute("aria-label", t`Revert: ${text}`);
      item.append(make("span", { textContent: text, dir: "auto" }), " ", back);
      return item;
    }));
  }

  /* What a person can do next: change a cell, or decide about a change when all that are allowed are used. */
  #hintAtLimit(used, limit) {
    const [hint] = this.places.hint;
    if (!hint) return;
    const reason = Boolean(this.#current.contract?.more_with_reason);
    let words = t("Type into a cell to change it.");
    if (Number.isInteger(limit) && used > limit) words = reason ? t("Revert a change, or give the reason below.") : t("Revert a change.");
    else if (Number.isInteger(limit) && used === limit) {
      words = reason ? t("All used. Revert one, or change more and give the reason.") : t("All used. Revert one to change another cell.");
    }
    if (hint.textContent !== words) hint.textContent = words;
  }

  // --- drafts ------------------------------------------------------------------------------------------------------

  /* What item.js asks of this page. */
  #pageOfItem() {
    return {
      tell: {
        saving: () => this.item.isWished || this.#state(t("Saving…")),
        saved: ({ reply, response }) => this.#onSaved(reply, response),
        failing: ({ problem, seconds }) => this.#onFailing(problem, seconds),
        refused: ({ problem }) => this.#onRefused(problem),
        stale: ({ draft }) => this.#onStale(draft),
        answering: () => setTimeout(() => this.#carryOut()),
        ending: () => this.#clearNotices("submit"),
        ended: ({ action, reply }) => this.#onEnded(action, reply),
        notEnded: ({ problem }) => this.#onNotEnded(problem),
        waiting: ({ problem, seconds }) => this.#onWaiting(problem, seconds),
        givenUp: ({ isUnsaved }) => this.#onGivenUp(isUnsaved),
        withdrawn: ({ draft }) => this.#onWithdrawn(draft),
        lost: ({ problem }) => this.#onLost(problem),
        next: ({ assignment, latest, said }) => this.#onNext(assignment, latest, said),
      },
      end: async (action, id, body) => {
        await this.querySelector("askew-proposals")?.told;
        return send("POST", this.#url(action, id), body, { part: action === "submit" ? "annotation" : null });
      },
      withdraw: async (id) => {
        const { annotation } = await send("GET", this.#url("response", id));
        const { draft } = await send("POST", `${this.dataset.api}annotations/${annotation}/undo/`, {});
        return draft;
      },
      fetchNext: async (id) => {
        const assignment = await send("POST", `${this.dataset.api}batches/${this.#current.batch.id}/next/`, { holding: [id] });
        this.#fetchedAt = Date.now();
        return assignment;
      },
      urlOf: (id, action) => this.#url(action, id),
      redraw: () => this.#drawBusy(),
    };
  }

  #onSaved(reply, response) {
    this.#current = { ...this.#current, draft: { revision: reply.revision, response, saved_at: reply.saved_at } };
    if (!this.item.isWished) {
      this.#state(this.item.isUnsaved ? t("Saving…") : t`Saved ${clock(reply.saved_at)}`);
      this.#clearNotices("connection");
    }
    if (reply.closed) this.#notice(t("This batch is closed. Your draft is saved under “My work” and cannot be submitted."), "problem", "closed");
    else this.#clearNotices("closed");
    if (reply.violations) this.#take(reply, response);
    this.#refresh();
  }

  #onFailing(problem, seconds) {
    const words = problem.signedOut
      ? t("You are signed out. Your entries are stored in this browser. Sign in again in another tab, then saving resumes here.")
      : t`${problem.message} Your entries are stored in this browser and saved as soon as possible.`;
    this.#countDown(t("Not saved"), words, seconds);
  }

  /* A submission got no answer. It stays what the person wants until the response is changed: it is sent again, and until the
     server has answered the page says that it is not submitted. */
  #onWaiting(problem, seconds) {
    remember(WISH, [this.#current.id]);
    const words = problem.signedOut
      ? t("You are signed out. Your response is stored in this browser. Sign in again in another tab, then it is submitted.")
      : t`${problem.message} Your response is stored in this browser and submitted as soon as the server answers.`;
    this.#countDown(t("Saved, not submitted"), words, seconds);
  }

  /* Do what waits for the server, as soon as nothing else is on its way. */
  #carryOut() {
    if (this.#home) return;
    if (this.#isGuarded) setTimeout(() => this.#carryOut(), 1000);
    else this.item.retry();
  }

  #onGivenUp(isUnsaved) {
    this.#clearNotices("connection");
    this.#state(isUnsaved ? t("Not saved") : t("Saved, not submitted"), true);
  }

  /* Say what has failed, count down the seconds until it is tried again, and try. Only the words are read out. */
  #countDown(state, words, seconds) {
    const retry = () => this.#carryOut();
    this.#state(state, true);
    this.#notice(words, "problem", "connection", retry, t("Try now"));
    const button = this.notices.querySelector("[data-topic=connection] > button");
    const place = button.previousElementSibling.matches("[data-seconds]") ? button.previousElementSibling : make("span", { ariaHidden: "true" });
    place.dataset.seconds = "";
    button.before(place, " ");
    let left = seconds;
    const tell = () => { place.textContent = left ? t`Retrying in ${left} s` : ""; };
    tell();
    this.#counting = setInterval(() => {
      left -= 1;
      tell();
      if (left) return;
      clearInterval(this.#counting);
      retry();
    }, 1000);
  }

  #onRefused(problem) {
    this.#state(t("Not saved"), true);
    this.#notice(t`${problem.message} Your entries are still here and stored in this browser.`, "problem", problem.passing ? "connection" : "submit");
  }

  #onStale(draft) {
    this.#state(t("Not saved: this item was changed in another window"), true);
    this.#choose(this.response, draft);
  }

  /* Two versions of one response: the person chooses. Until then both exist, here and on the server. */
  async #choose(mine, draft) {
    const choice = await chooseVersion({ fields: this.fields, grid: this.grid, mine: mine.data, other: draft.response.data, savedAt: clock(draft.saved_at) });
    if (choice === "other") {
      this.item.hear({ type: "rebase", draft });
      this.#show({ ...this.#current, draft }, { isBack: true }); // as a page that is opened now: what a program gave for the dropped version goes
    } else {
      this.#setUnsure(Boolean(mine.unsure));
      if (!same(this.#collect(), mine.data)) this.put(mine.data);
      this.item.hear({ type: "rebase", draft, response: mine });
      this.#refresh();
    }
    if (document.activeElement === document.body) this.#focusStart(); // the cell that had it was painted anew
  }

  // --- acting ------------------------------------------------------------------------------------------------------

  #act(action) {
    if (action === "submit") this.submit();
    else if (action === "skip") this.skip();
    else if (action === "flag") this.flag();
    else if (action === "ask") this.ask();
    else if (action === "undo") this.undo();
    else if (action === "save") this.item.flush();
  }

  async submit() {
    if (this.#isSending || this.item.isLost || this.#home) return;
    if (this.#changing) this.#changed();
    const onward = this.#onward();
    if (onward) {
      onward.click(); // practice has judged this response already
      return;
    }
    const unfinished = await this.#settle();
    if (this.item.isLost) return;
    if (this.#changing) this.#changed(); // by what was waited for
    if (unfinished) {
      this.#notice(t`Not submitted yet. ${unfinished}`, "problem", "submit");
      return;
    }
    const blocking = this.#structure().filter(({ level }) => level !== "warning");
    const [missing] = this.#missing();
    if (blocking.length || missing) {
      this.checklist.insist();
      this.#refresh();
      const words = [...blocking.map(({ message }) => message), ...(missing ? [missing[1]] : [])];
      this.#notice(t`Not submitted yet. ${words.join(" ")}`, "problem", "submit");
      if (!blocking.length) this.#focusField(missing[0]);
      return;
    }
    const { response } = this;
    const refused = await this.#refusedByServer(response.data);
    if (this.item.isLost || document.querySelector("dialog[open]")) return; // the place is gone, or two versions differ
    if (refused.length) return this.#onInvalid({ body: { violations: refused } });
    if ("hands" in this.dataset) this.#hand(response);
    else if (this.practice) await this.#practise(response);
    else this.item.hear({ type: "submit", response, confirmed: this.#confirmed });
  }

  /* Wait for the elements that are still working out a part of the response. Resolves to what the person has to finish
     first, in words, or "". */
  async #settle() {
    const parts = outside(this.form, "[data-hears], [data-field]").filter((part) => part.settle);
    let words = [];
    if (parts.length) await this.#guard(async () => { words = await Promise.all(parts.map((part) => part.settle())); });
    return words.filter(Boolean).join(" ");
  }

  /* What the server has against this response, as far as it has seen it. Where a line of the contract is for the server
     to check, it is asked first: what a person must mend is then no failed submission. */
  async #refusedByServer(data) {
    if (this.practice) return [];
    if (this.#asksServer()) await this.#guard(() => this.item.flush());
    const seen = this.#server && same(this.#server.data, data);
    return seen ? this.#server.violations.filter(({ level }) => level !== "warning") : [];
  }

  /* Where the response is part of something larger (data-hands: a decision with its note), it goes with the form, once:
     a second key would send it again, and what follows would be lost. */
  #hand(response) {
    this.form.elements.response.value = JSON.stringify(response);
    if (this.#handed || !this.form.reportValidity()) return;
    this.#handed = true;
    addEventListener("pageshow", () => { this.#handed = false; }, { once: true }); // somebody came back
    this.form.submit();
  }

  /* Practice: say how the response is, then go on when the person does. */
  async #practise(response) {
    await this.#guard(async () => {
      const { variant } = this.#current;
      const number = this.number ?? Number(this.dataset.number);
      const { right, words, why, next } = await send("POST", this.practice, { response, variant, number });
      const place = this.bar.querySelector("[data-feedback]");
      const { unjudged = t("Meets the rules. Compare it with the expected response"), go: onward = t("Next exercise"), end = t("See your score") } = this.dataset;
      const verdicts = new Map([[true, t("Correct")], [false, t("Not correct")], [null, unjudged]]);
      const verdict = make("p", { className: "verdict", textContent: verdicts.get(right) });
      place.replaceChildren(verdict, ...words.map((text) => make("p", { textContent: text, dir: "auto" })));
      if (why) {
        const reason = make("p", { dir: "auto" });
        reason.append(make("strong", { textContent: t("Why:") }), ` ${why}`);
        place.append(reason);
      }
      place.dataset.state = right === null ? "open" : right ? "yes" : "no";
      place.hidden = false;
      const go = make("button", { type: "button", className: "primary", textContent: next ? onward : end });
      go.append(make("kbd", { ariaHidden: "true", textContent: t("Enter") }));
      go.addEventListener("click", () => {
        if (!next) return location.assign(this.dataset.done);
        place.hidden = true;
        this.number = number + 1;
        this.#show({ ...this.#current, ...next, draft: null, progress: { submitted: number, total: this.#progress.total } });
      });
      const last = make("p");
      last.append(go);
      place.append(last);
      this.#announce([...place.children].slice(0, -1).map(({ textContent }) => textContent).join(" "));
      go.focus();
    }, (problem) => {
      if (problem.code !== "invalid_response") return false;
      this.#onInvalid(problem);
      return true;
    });
  }

  #onEnded(action, reply) {
    const isSubmitted = action === "submit";
    if (isSubmitted) {
      this.#done.push(reply.annotation.id);
      this.guidelines.count();
      remember(this.#store(), this.#done);
    }
    this.#advance(isSubmitted ? t("Previous item submitted.") : t("Previous item skipped."), reply?.next, isSubmitted ? 1 : 0);
    this.#workChanged();
  }

  #onNotEnded(problem) {
    if (problem.code === "invalid_response") this.#onInvalid(problem);
    else if (problem.code === "unmet_conditions") this.#askToConfirm(problem);
    else this.#say(problem);
  }

  /* A submission that got no answer had arrived, and the person has chosen something else since: it is the draft again. */
  #onWithdrawn(draft) {
    this.#clearNotices("connection");
    if (!this.item.isUnsaved) this.#onSaved(draft, draft.response);
  }

  async skip() {
    const chosen = new FormData(document.querySelector("form[data-action=skip]"));
    const reason = String(chosen.get("skip_other") ?? "").trim() || String(chosen.get("skip_reason") ?? "");
    if (!reason) {
      this.#notice(t("Choose or write a reason for skipping this item."), "problem", "submit");
      return;
    }
    if (!this.#isSending) this.item.hear({ type: "skip", reason });
  }

  async flag() {
    const field = this.form.elements.flag_note;
    const note = field.value.trim();
    if (!note) {
      this.#notice(t("Enter what the managers should check."), "problem", "submit");
      return;
    }
    await this.#guard(async () => {
      await send("POST", this.#url("flag"), { note });
      field.value = "";
      this.#closePanels();
      this.#notice(t("Flagged. The managers of this project can read your note. The item stays with you."), "note", "submit");
      this.#toActions();
    });
  }

  async ask() {
    const field = this.form.elements.ask_text;
    const text = field.value.trim();
    if (!text) {
      this.#notice(t("Enter a question."), "problem", "submit");
      return;
    }
    await this.#guard(async () => {
      await send("POST", this.#url("ask"), { text });
      field.value = "";
      this.#closePanels();
      this.#notice(t("Question sent. The answer will appear here and on “My work”. The item stays with you."), "note", "submit");
      this.#toActions();
    });
  }

  async undo() {
    const last = this.#done.at(-1);
    if (!last) {
      this.#notice(t("You have no submission to undo in this batch."), "note", "submit");
      return;
    }
    await this.#guard(async () => {
      await this.item.flush();
      const assignment = await send("POST", `${this.dataset.api}annotations/${last}/undo/`, {});
      this.#done.pop();
      remember(this.#store(), this.#done);
      if (assignment.id !== this.#current.id) this.item.hear({ type: "shelve", assignment: this.#current });
      this.item.close();
      this.#show(assignment, { said: t("Undone. This is your last submission.") });
      this.#workChanged();
    }, (problem) => {
      if (problem.code === "decided" || problem.status === 404) {
        this.#done.pop();
        remember(this.#store(), this.#done);
      }
    });
  }

  // --- looking back (past.js) --------------------------------------------------------------------------------------

  /* What the page shows of the person's own work is asked for again. */
  #workChanged() {
    this.past?.changed();
    this.session?.refresh();
  }

  /* Show the person's session (session.js) where the page has a place for it, and keep it up to date. */
  async showSession() {
    this.#ownSession ??= import("./session.js").then(({ Session }) => {
      this.session = new Session(this, `${this.dataset.api}batches/${this.dataset.batch}/session/`);
    }).catch((problem) => {
      this.#ownSession = null; // the next time it is asked for again
      throw problem;
    });
    await this.#ownSession;
    await this.session.refresh();
  }

  /* An item was finished beside these answers: they are read, and the header counts them no more. */
  async #confirmAnswers() {
    for (const notice of this.notices.querySelectorAll(`[data-topic^="${ANSWER}"]`)) notice.remove();
    const answers = this.#readAnswers.splice(0);
    if (!answers.length || this.practice) return;
    try {
      const { unread } = await send("POST", `${this.dataset.api}batches/${this.#current.batch.id}/answers/`, { answers });
      if (!unread) document.querySelector("nav .badge")?.closest("li").remove();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem; // they stay unread, and come again with the next page
    }
  }

  /* Answers to the person's questions, each shown once on this page. */
  #tellAnswers(answers = []) {
    for (const { id, question, answer, is_whole: isWhole } of answers) {
      if (this.#answered.has(id)) continue;
      this.#answered.add(id);
      if (isWhole) this.#readAnswers.push(id);
      this.#notice(t`Answer to your question “${question}”: ${answer}`, "note", `${ANSWER}${id}`);
    }
  }

  async #showExamples() {
    const { showExamples } = await this.#fetched(() => import("./examples.js"));
    await showExamples(`${this.dataset.api}batches/${this.dataset.batch}/examples/`);
  }

  /* The strip of earlier items, fetched when it is first wanted. */
  async #lookAround(act) {
    this.#strip ??= this.#fetched(() => import("./past.js")).then(({ Past }) => {
      this.past = new Past(this, `${this.dataset.api}batches/${this.dataset.batch}/history/`, PAST);
      return this.past;
    }).catch((problem) => {
      this.#strip = null; // the next time it is asked for again
      throw problem;
    });
    act(await this.#strip);
  }

  /* A module that a person asked for. That it does not come is said. */
  async #fetched(load) {
    try {
      return await load();
    } catch (problem) {
      this.#say(new Problem(0));
      throw problem;
    }
  }

  /* Show an earlier item of this person in place of the current one, to be read. Resolves to whether it is shown. */
  async lookBack(item) {
    let shown = false;
    await this.#guard(async () => {
      if (!this.#home) {
        if (this.#changing) this.#changed();
        await this.item.flush();
        this.#home = this.#current;
        this.item.close();
      }
      this.#show(asPast(item, this.#home), { said: t`Submitted ${clock(item.ended_at)}` });
      this.#readOnly(true);
      shown = true;
    });
    return shown;
  }

  /* Go on with the current item, with what was entered in it. */
  comeBack() {
    if (!this.#home) return;
    this.#show(this.#leavePast(), { isBack: true });
    this.#carryOut();
  }

  /* Withdraw an earlier submission and open its item. Resolves to the problem if it is refused, else null. */
  async reopen(annotation) {
    let refused = null;
    await this.#guard(async () => {
      const assignment = await send("POST", `${this.dataset.api}annotations/${annotation}/undo/`, {});
      this.#done = this.#done.filter((id) => id !== annotation);
      remember(this.#store(), this.#done);
      this.item.hear({ type: "shelve", assignment: this.#leavePast() });
      this.#show(assignment, { said: t("Response withdrawn.") });
      this.#notice(t("Change your response and submit it again."), "note");
    }, (problem) => {
      refused = problem;
      return true;
    });
    return refused;
  }

  #leavePast() {
    const home = this.#home;
    this.#home = null;
    this.#readOnly(false);
    this.#current = { ...this.#current, guidelines: home.guidelines };
    return home;
  }

  #readOnly(on) {
    this.toggleAttribute("data-looking-back", on);
    for (const part of [...this.panel.children, ...this.bar.children]) part.inert = on;
  }

  /* Whether something is on its way that ends the item or needs the whole page. */
  get #isSending() {
    return this.#isGuarded || this.item.isBusy;
  }

  #drawBusy() {
    if (this.#isSending) this.form.setAttribute("aria-busy", "true");
    else this.form.removeAttribute("aria-busy");
  }

  async #guard(work, handled = () => false) {
    if (this.#isSending) return;
    this.#isGuarded = true;
    this.#drawBusy();
    this.#clearNotices("submit");
    try {
      await work();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (!handled(problem)) this.#say(problem);
    } finally {
      this.#isGuarded = false;
      this.#drawBusy();
    }
  }

  #say(problem) {
    const words = problem.signedOut
      ? t("You are signed out. Your entries are stored in this browser. Sign in again in another tab, then try again.")
      : problem.passing
        ? t`${problem.message} Nothing is lost. Try again in a moment.`
        : problem.message;
    this.#notice(words, "problem", problem.passing ? "connection" : "submit");
  }

  #onInvalid(problem) {
    const violations = problem.body.violations ?? [];
    this.#server = { data: this.#collect(), violations, answer: this.#server?.answer };
    this.#tell("draft-checked", { violations, answer: this.#server.answer ?? null });
    this.#refresh();
    const blocking = violations.filter(({ level }) => level !== "warning");
    this.#notice(t`Not submitted yet. ${(blocking.length ? blocking : [problem]).map(({ message }) => message).join(" ")}`, "problem", "submit");
    const name = String(blocking[0]?.path ?? "").split(/[./]/).find((part) => this.fields.some((field) => field.dataset.field === part));
    const field = this.fields.find((one) => one.dataset.field === name);
    if (field && field !== this.operationsField) this.#focusField(field);
  }

  /* The server asks once about what the response leaves unmet: a reason answers it, and so does submitting again. */
  #askToConfirm({ message, body }) {
    this.#confirmed = body.unmet.map(({ code }) => code);
    const reason = this.fields.some((field) => field.dataset.field === "reason" && !field.closest("[hidden]"));
    const how = reason ? t("Give a reason, or submit again.") : t("Submit again to confirm.");
    this.#notice(t`Not submitted yet. ${message} ${how}`, "note", "submit", () => this.submit(), t("Submit anyway"));
  }

  #focusField(field) {
    const input = field.matches("input, textarea, select") ? field : field.querySelector("input, textarea, select");
    input?.focus();
  }

  /* The place was given to somebody else, or the batch or item was closed: what was entered stays a draft. */
  async #onLost(problem) {
    const { id } = this.#current;
    this.item.change(this.response);
    const kept = await this.item.flush();
    if (id !== this.#current.id || this.#home) return; // another item is shown by now
    if (!kept) this.#state(t("Not saved"), true);
    const where = kept ? t("Your draft is saved under “My work”.") : t("Your entries are stored in this browser.");
    // Why a place is gone the server knows, and says where the draft is.
    const words = LOST[problem.code] ? `${LOST[problem.code]} ${where}` : kept ? problem.message : `${problem.message} ${where}`;
    this.#notice(words, "problem", "submit", () => this.#advance("", null, 0), t("Go to the next item"));
  }

  // --- the next item -----------------------------------------------------------------------------------------------

  #advance(said, next, submitted) {
    this.#confirmAnswers();
    this.#setProgress({ ...this.#progress, submitted: this.#progress.submitted + submitted });
    this.item.hear({ type: "goOn", next, said });
  }

  #onNext(assignment, latest, said) {
    if (assignment) {
      // A waiting item was counted when it was fetched; what was submitted since is known here.
      const counted = latest?.progress ?? { ...assignment.progress, submitted: this.#progress.submitted };
      // So do answers to questions: they may have come since the item was fetched.
      this.#show({ ...assignment, progress: counted, answers: latest?.answers ?? assignment.answers }, { said });
      if (Date.now() - this.#fetchedAt > PING) setTimeout(() => this.#ping()); // nothing has renewed its lease since
    } else {
      location.assign(this.dataset.done || location.href);
    }
  }

  // --- the lease ---------------------------------------------------------------------------------------------------

  #active() {
    const away = Date.now() - this.#lastActive;
    this.#lastActive = Date.now();
    if (away > PING) this.#ping();
  }

  async #ping() {
    const idle = Date.now() - this.#lastActive > ACTIVE;
    if (idle || document.visibilityState === "hidden" || this.item.isLost || this.#isSending) return;
    const { id } = this.#home ?? this.#current;
    try {
      const reply = await send("POST", `${this.dataset.api}assignments/${id}/ping/`, {});
      this.#tellAnswers(reply?.answers);
      if (id === this.#current.id && reply?.lease) this.#tellLease(reply.lease);
    } catch (problem) {
      if (!SLOT_GONE.has(problem.code)) return;
      if (this.#home?.id === id) this.comeBack();
      if (id === this.#current.id) this.item.hear({ type: "lose", problem });
    }
  }

  /* Without a lease somebody else may get the item, or has it. As long as nobody has, it can be submitted. */
  #tellLease(lease) {
    this.#current = { ...this.#current, lease };
    if (lease.seconds) this.#clearNotices("lease");
    else this.#notice(t("This item is no longer reserved for you. You can submit it as long as no other annotator has taken it."), "problem", "lease", () => this.#guard(async () => {
      await this.item.flush();
      this.#advance("", null, 0);
    }), t("Go to the next item"));
  }

  // --- saying things -----------------------------------------------------------------------------------------------

  #state(words, bad = false) {
    clearInterval(this.#counting);
    const place = document.querySelector("[data-saved]");
    place.textContent = words;
    place.classList.toggle("bad", bad);
    this.#said = "";
  }

  /* "Previous item submitted." stays until something is entered: a refused Enter on the new item must not clear it unread. */
  #unsay() {
    if (this.#said) this.#state(document.querySelector("[data-saved]").textContent.replace(this.#said, "").trim());
  }

  /* A new item begins: what was said about the last one goes. Elements of the kind clear what they made themselves. */
  #silence() {
    clearTimeout(this.#reading);
    this.#held.clear();
    for (const place of outside(this, "[role=status]")) if (!place.firstElementChild) place.textContent = "";
  }

  /* Where letters go into a field, Enter is the field's own key as well. In a table, a list or a field of one line it submits,
     or leads on to where the next one does. */
  #typing(target) {
    const on = writes(target);
    const text = on && target.matches("textarea, input");
    const kind = text ? (target.matches("[data-enter-submits], [data-enter-leads-on]") ? "line" : "text") : "";
    for (const part of [this.panel, this.bar]) {
      if (on) part.dataset.typing = kind;
      else delete part.dataset.typing;
    }
    const hint = this.bar.querySelector("[data-while-typing]");
    hint?.toggleAttribute("data-on", on && !this.keys.off);
  }

  /* The total is the one that the visit began with, although other people may add items meanwhile; it grows when this
     person gets more. A reload of the same tab never shrinks it. `open`: items on screen that are not submitted yet. */
  #setProgress({ submitted, total }, open = 0) {
    const key = `askew:total:${this.dataset.batch}`;
    const [stored = 0] = this.practice || this.#progress ? [] : recall(key);
    const progress = { submitted, total: Math.max(this.#progress?.total ?? total, stored, submitted + open) };
    this.#progress = progress;
    if (!this.practice) remember(key, [progress.total]);
    const bar = document.querySelector("[data-progress]");
    const text = document.querySelector("[data-progress-text]");
    if (bar) {
      bar.max = Math.max(1, progress.total);
      bar.value = progress.submitted;
    }
    if (text) text.textContent = t`${progress.submitted} of ${progress.total}`;
  }

  #announce(words) {
    this.querySelector("[data-announce]").textContent = words;
  }

  #notice(words, kind = "problem", topic = "item", act = null, label = "") {
    const present = this.notices.querySelector(`[data-topic="${topic}"]`);
    if (present?.firstChild.textContent === words) return;
    present?.remove();
    const notice = make("p", { className: `notice ${kind}` });
    notice.dataset.topic = topic;
    notice.append(make("span", { textContent: words }));
    if (act) {
      const button = make("button", { type: "button", className: "quiet", textContent: label });
      button.addEventListener("click", act);
      notice.append(" ", button);
    }
    this.notices.append(notice);
  }

  /* Of one topic, or all but answers to questions: those stay until an item was finished beside them. */
  #clearNotices(topic = null) {
    for (const notice of this.notices.querySelectorAll(".notice")) {
      const goes = notice.dataset.topic !== "server" && !notice.dataset.topic?.startsWith(ANSWER); // "server" came with the page
      if (topic ? notice.dataset.topic === topic : goes) notice.remove();
    }
  }

  #openPanel(name) {
    const panel = this.bar.querySelector(`details[data-panel=${name}]`);
    if (!panel) return;
    panel.open = true;
    (panel.querySelector("input:checked") ?? panel.querySelector("input, textarea") ?? panel).focus();
  }

  #closePanels(except = null) {
    for (const panel of this.bar.querySelectorAll("details[data-panel][open]")) if (panel !== except) panel.open = false;
  }

  #hidden(name, value) {
    for (const input of document.querySelectorAll(`input[type=hidden][name=${name}]`)) input.value = value;
  }

  #url(action, id = this.#current.id) {
    return `${this.dataset.api}assignments/${id}/${action}/`;
  }

  #store() {
    return `askew:done:${this.dataset.batch}`;
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
  when: "[data-when][data-operator]",
  commits: "[data-commits]",
};
const PAST = "askew:past"; // whether the strip of earlier items was left open in this browser
const WISH = "askew:not-submitted"; // the item whose submission has got no answer
const ANSWER = "answer-"; // topics of notices with answers to questions
const LISTED = 100; // changes that are listed one by one
const LOST = {
  batch_closed: t("This batch is closed."),
  decided: t("This item is already decided."),
  already_submitted: t("You submitted this item in another window."),
};

// --- kinds of fields: how to read, write and empty them ------------------------------------------------------------

const inputOf = (field) => (field.matches("input, textarea") ? field : field.querySelector("input, textarea"));

const COLLECT = {
  choice: (field) => field.querySelector("input:checked")?.value ?? "",
  flag: (field) => inputOf(field).checked,
  text: (field) => inputOf(field).value,
  lines: (field) => readAnswers(inputOf(field)),
  operations: (_, grid) => grid.operations,
  cells: (_, grid) => grid.cells,
  choices: (field) => [...field.querySelectorAll("input:checked, select")].map(({ value }) => value).filter(Boolean),
  json: (field) => field.value,
};

const FILL = {
  choice: (field, value) => field.querySelectorAll("input").forEach((input) => { input.checked = input.value === String(value); }),
  flag: (field, value) => { inputOf(field).checked = value; },
  text: (field, value) => { inputOf(field).value = value; },
  lines: (field, value) => writeAnswers(inputOf(field), value),
  choices: (field, value) => {
    field.querySelectorAll("input").forEach((input) => { input.checked = value.includes(input.value); });
    field.querySelectorAll("select").forEach((select, place) => { select.value = value[place] ?? ""; });
  },
  json: (field, value) => { field.value = value; },
};

const BLANK = { choice: "", choices: [], flag: false, text: "", lines: [], operations: [], cells: [], json: null };

/* A field that starts with something says so: the question that is to be reworded, for one. */
const blankOf = (field) => field.blank ?? BLANK[field.dataset.kind];

// --- what an item shows: always as text ----------------------------------------------------------------------------

const SHOW = {
  text: (place, value) => { place.textContent = typeof value === "string" ? value : value?.text ?? ""; },
  question: (place, text) => { place.textContent = text ?? ""; },
  evidence: (place, evidence) => { place.textContent = evidence?.from ?? ""; },
  answers: (place, answers, { alternatives = [] } = {}) => {
    place.replaceChildren(...(answers ?? []).map((text) => make("li", { textContent: text, dir: "auto" })));
    for (const other of alternatives) {
      const item = make("li", { dir: "auto" });
      item.append(make("span", { className: "soft", textContent: t("or") }), ` ${other.join(" | ")}`);
      place.append(item);
    }
  },
  context: (place, context) => {
    const facts = [[t("Unit"), context?.unit], [t("Scale"), context?.scale]].filter(([, value]) => value);
    place.replaceChildren(
      ...(context?.text ?? "").split("\n\n").filter(Boolean).map((text) => make("p", { textContent: text, dir: "auto" })),
      ...facts.map(([name, value]) => make("p", { className: "soft", textContent: `${name}: ${value}` })),
    );
  },
  history: (place, turns) => {
    place.replaceChildren(...(turns ?? []).map(({ question, answers }) => {
      const item = make("li", { dir: "auto", textContent: question });
      item.append(" ", make("span", { className: "soft", textContent: answers.join(" | ") }));
      return item;
    }));
  },
};

/* An earlier item as the page shows it: to be read, with its response, and with nothing that would be asked about it. */
function asPast(item, home) {
  const data = item.response?.data ?? {};
  return {
    ...home, ...item, grid: "read", suggests: "", loop: null, help: "", answers: [], sent_back: null, annotation: null, same_question: null,
    draft: { revision: 0, response: { data, unsure: item.unsure }, saved_at: item.ended_at },
  };
}

function clock(moment) {
  return moment ? new Date(moment).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }) : "";
}

function wasOpen(key) {
  try {
    return localStorage.getItem(key) === "open";
  } catch {
    return false;
  }
}

function recall(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}

function remember(key, list) {
  try {
    sessionStorage.setItem(key, JSON.stringify(list.slice(-50)));
  } catch { /* then a reload forgets which submission was the last */ }
}

const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);

customElements.define("askew-annotate", AskewAnnotate);
