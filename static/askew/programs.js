/* <askew-programs>: how the answer follows from the table, as a program that a person confirms among a few.

   A field of JSON (data-kind="json"): its value is the program that is chosen, {"op": "none"} where none of them is
   right, null where nothing was said. What is offered comes with the item (data-show="program": the program that the
   example has already, chosen from the start) and with the suggestions ({programs: [{program, value, words}], note}).
   With every draft the server runs the program again; the element writes old -> new and says `program-computed`
   {before, computed, differs, alternatives}, which bubbles. Where the offered programs disagree on the draft, computed is
   null and alternatives are [{answers, programs: [{program, words}]}]: a person says which answer is right, and with
   `decide` the programs with another one are ruled out for this item.

   What is asked first has the focus first: while nothing is chosen and nobody has begun, the list takes it, so that a
   digit is a choice and then goes on to the table; arrows go to the table at once. The first few are shown, and of those
   only the chosen one once there is one; a button (M) among them shows them all, and none of them comes last. With data-asks an item that protects no cell must
   have a choice where there is something to choose. */

import { PAUSE } from "./commits.js";
import { same as alike } from "./draft.js";
import { element } from "./elements.js";
import { t } from "./language.js";
import { equal } from "./tables.js";
import { count } from "./words.js";

const NONE = { op: "none" };
const FIRST = 3; // programs that are shown before a choice is made
const ASKED = t("Choose how the answer is worked out, or “None of these”.");
const NOTHING_FOUND = t("No program gives this answer. Work out the new one by hand.");
const NOT_HERE = t("No programs are offered in practice.");
const EARLIER = t("The previously chosen program");

export class AskewPrograms extends HTMLElement {
  /** @type {AnnotatePage} */
  page = /** @type {never} */ (undefined);
  /** @type {OfferedProgram | null} */
  #own = null; // {program, words}
  /** @type {readonly OfferedProgram[]} */
  #offered = [];
  #waiting = false;
  #ready = true; // whether digits choose a program
  /** @type {number | null} */
  #timer = null;
  #all = false; // whether all are shown
  #clicked = false;
  #unprotected = false;
  /** @type {Program[]} */
  #ruledOut = []; // programs with an answer for an edited table that a person turned down
  /** @type {readonly Alternative[]} */
  #asking = []; // the alternatives that a person is asked to choose from
  #resumed = false; // the item came with an answer, and the server has not checked it yet
  #note = "";
  /** @type {HTMLElement} */
  #list = /** @type {never} */ (undefined);
  /** @type {HTMLElement} */
  #more = /** @type {never} */ (undefined);
  /** @type {HTMLElement} */
  #line = /** @type {never} */ (undefined);
  /** @type {HTMLElement} */
  #said = /** @type {never} */ (undefined);

  connectedCallback() {
    if (this.#list) return;
    this.page = this.closest("askew-annotate");
    this.querySelector("[data-offered]")?.remove(); // what a page without scripts was given
    this.#list = this.appendChild(element("div", { className: "choices programs", role: "radiogroup", tabIndex: -1, ariaLabel: this.dataset.label }));
    this.#more = this.#list.appendChild(element("button", {
      type: "button", className: "quiet small more-programs", name: "programs", hidden: true,
      dataset: { key: "m", label: t("Show all programs"), keyTip: "programs" },
    }, ""));
    this.#said = this.appendChild(element("p", { className: "soft small" }));
    this.#line = this.appendChild(element("p", { className: "computed", ariaLive: "polite" }));
    this.addEventListener("item-shown", ({ detail }) => this.#begin(detail.assignment));
    this.addEventListener("item-suggested", ({ detail }) => this.#take(detail));
    this.addEventListener("draft-checked", ({ detail }) => this.#compute(detail.answer));
    this.addEventListener("change", (event) => this.#onChange(event));
    this.addEventListener("click", (event) => { this.#clicked = event.detail > 0; });
    this.#more.addEventListener("click", () => this.#showAll());
    this.#list.addEventListener("keydown", (event) => this.#onKey(event));
    for (const kind of ["focusin", "focusout", "pointerover", "pointerleave"]) {
      this.#list.addEventListener(kind, (event) => this.#pointOut(event));
    }
  }

  /** @param {Assignment} assignment */
  #begin({ contract, draft }) {
    clearTimeout(this.#timer);
    this.#ready = true;
    const { practice } = this.page;
    this.#ruledOut = [];
    this.#asking = [];
    this.#resumed = Boolean(draft?.response?.data?.answers?.length);
    this.#tidy();
    this.#unprotected = !contract?.protected?.length;
    if (practice && !this.#own) this.#note = NOT_HERE;
    this.#say();
  }

  /* The program that comes with an item; a new item begins. */
  /** @param {OfferedProgram | null} own @param {Assignment} assignment */
  shown(own, { suggests }) {
    this.#own = own ?? null;
    this.#waiting = suggests === "before" && !this.page.practice;
    this.#offered = this.#own ? [{ ...this.#own }] : [];
    this.#all = false;
    this.#note = "";
    this.#line.replaceChildren();
    this.#paint(null);
  }

  get blank() {
    return this.#own?.program ?? null;
  }

  /* Whether there is, or may soon be, something to choose from. */
  get asks() {
    return this.#waiting || this.#offered.length > 0;
  }

  /** @returns {Program | null} */
  get value() {
    const chosen = this.querySelector("input:checked");
    return chosen ? JSON.parse(chosen.value) : null;
  }

  /** @param {Program | null} value */
  set value(value) {
    this.#paint(value ?? null);
  }

  /** @param {Program} value */
  inWords(value) {
    if (alike(value, NONE)) return [t("None of these")];
    return [this.#offered.find(({ program }) => alike(program, value))?.words ?? EARLIER];
  }

  /* A person says whose answer for the edited table is right. The program that is chosen stays, if it gives that answer. */
  /** @param {Alternative} alternative */
  decide(alternative) {
    this.#ruledOut.push(...programsOf(this.#asking.filter((other) => other !== alternative)));
    this.#asking = [];
    if (!gives(alternative, this.value)) this.#paint(alternative.programs[0].program);
    else this.#tidy();
    this.dispatchEvent(new Event("change", { bubbles: true }));
    this.#tellComputed({ computed: alternative.answers, alternatives: [] });
  }

  /* A choice by key or pointer is made; going through the choices with arrows is not done yet. */
  /** @param {Event} event */
  #onChange(event) {
    if (event.target === this) return; // settled
    this.#ruledOut = [];
    this.#line.replaceChildren();
    const fromHere = document.activeElement === this.#list;
    if (!event.isTrusted || this.#clicked) this.#all = false;
    this.#tidy();
    this.#pointOut();
    this.#tellPage();
    if (fromHere) queueMicrotask(() => this.page.grid.focusCell());
  }

  /* The arrows belong to the table, also while the list waits for a digit. */
  /** @param {KeyPress} event */
  #onKey(event) {
    if (event.target !== this.#list || !event.key.startsWith("Arrow") || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.page.grid.focusCell();
    const { key, code, shiftKey } = event;
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, code, shiftKey, bubbles: true, cancelable: true }));
  }

  /* The cells that the program reads on which the focus or the pointer is, else those of the chosen one. */
  /** @param {Event | null} event */
  #pointOut(event = null) {
    const on = event && ["focusin", "pointerover"].includes(event.type) ? /** @type {HTMLElement} */ (event.target).closest?.("label") : null;
    const input = /** @type {HTMLInputElement} */ (on?.control) ?? this.querySelector("input:focus") ?? this.querySelector("input:checked");
    const program = input ? JSON.parse(input.value) : null;
    const offer = program && this.#offered.find((candidate) => alike(candidate.program, program));
    this.page?.grid?.readBy?.(offer?.cells ?? []);
  }

  #showAll() {
    this.#all = true;
    this.#ready = true;
    this.#tidy();
    (this.querySelector("input:checked") ?? this.querySelector("input"))?.focus();
  }

  /** @param {{ suggestions: Suggestions | null, reason: string }} offer */
  #take({ suggestions, reason }) {
    this.#waiting = false;
    const known = this.#own ? [{ ...this.#own }] : [];
    const fresh = (suggestions?.programs ?? []).filter(({ program }) => !known.some((one) => alike(one.program, program)));
    this.#offered = [...known, ...fresh];
    this.#note = suggestions ? suggestions.note ?? "" : reason ?? "";
    const focused = this.contains(document.activeElement);
    this.#ready = fresh.length === 0 || this.#all; // with all of them shown, no digit changes its meaning
    this.#paint(this.value);
    if (focused) (this.querySelector("input:checked") ?? this.querySelector("input"))?.focus();
    if (this.#ready) this.#takeDigits();
    else this.#timer = setTimeout(() => this.#takeDigits(), PAUSE);
  }

  /* Digits pressed when programs have just come were meant for the table; afterwards they choose a program. */
  #takeDigits() {
    this.#ready = true;
    this.#tidy();
    if (!this.#offered.length || this.value !== null || this.page.begun.has || !this.#mayTakeFocus()) return;
    /** @param {string} key */
    const own = (key) => Boolean(this.querySelector(`[data-key="${CSS.escape(key)}"]`)) || this.page.grid.mode !== "edit"; // only cells that are written take letters
    this.page.begun.lead(this.#list, () => this.#list.focus({ preventScroll: true }), own);
  }

  #mayTakeFocus() {
    const { activeElement } = document;
    return activeElement === document.body || Boolean(this.page?.grid?.contains(activeElement));
  }

  /** @param {Program | null} value */
  #paint(value) {
    const offered = [...this.#offered];
    if (value && !alike(value, NONE) && !offered.some(({ program }) => alike(program, value))) {
      offered.push({ program: value, words: EARLIER });
    }
    const rows = offered.map(({ program, words }, index) => this.#choice(program, words, String(index + 1), value));
    const none = rows.length || alike(value, NONE) ? [this.#choice(NONE, t("None of these"), "n", value)] : [];
    this.#list.replaceChildren(...rows, this.#more, ...none);
    this.#tidy();
    this.#say();
    this.#tellPage();
    this.#pointOut();
  }

  /* Show what is asked for now: the first few, the chosen one, or all. */
  #tidy() {
    const labels = /** @type {(HTMLLabelElement & { control: HTMLInputElement })[]} */ ([...this.#list.querySelectorAll("label")]);
    const chosen = labels.find((label) => label.control.checked);
    const last = labels.length - 1; // none of these
    this.#list.toggleAttribute("data-all", this.#all);
    labels.forEach((label, index) => {
      label.hidden = !this.#all && (chosen ? label !== chosen : index >= FIRST && index !== last);
      const settled = !this.#all && (Boolean(chosen) || this.#asking.length > 0); // nothing to choose, or digits choose an answer
      const taken = settled || !this.#ready;
      label.querySelector("kbd").hidden = taken;
      if (taken) delete label.control.dataset.key;
      else label.control.dataset.key = index === last ? "n" : String(index + 1);
    });
    const hidden = labels.filter((label) => label.hidden).length;
    this.#more.hidden = !hidden;
    /** @type {Text} */ (this.#more.firstChild).data = chosen ? count(hidden, "other") : t`${hidden} more`;
    const asked = "asks" in this.dataset && this.#unprotected && this.#offered.length > 0;
    if (asked) this.dataset.required = ASKED;
    else delete this.dataset.required;
  }

  /* What depends on a program is shown with one. By an attribute: a rule with :has() on the whole page would be looked at
     again with every change in a large table. */
  #tellPage() {
    const { value } = this;
    this.page?.toggleAttribute("data-program", value !== null && !alike(value, NONE));
  }

  /** @param {Program} program @param {string} words @param {string} key @param {Program | null} value */
  #choice(program, words, key, value) {
    const text = JSON.stringify(program);
    const input = element("input", { type: "radio", name: "program", value: text, checked: value !== null && alike(program, value), ariaKeyShortcuts: key.toUpperCase(), dataset: { key, label: words } });
    const shortcut = element("kbd", { ariaHidden: "true", textContent: key.toUpperCase(), dataset: { shortcut: `program:${text}` } });
    return element("label", {}, input, element("span", { textContent: words, title: words, dir: "auto" }), shortcut);
  }

  #say() {
    this.toggleAttribute("data-settled", !this.#waiting); // until then there is room for them
    const nothing = !this.#offered.length && !this.#waiting ? this.#note || NOTHING_FOUND : "";
    this.#said.textContent = this.#waiting ? t("Looking for ways to work out the answer…") : nothing || this.#note;
    this.#said.hidden = !this.#said.textContent;
  }

  /** @param {ComputedAnswer | null} answer */
  #compute(answer) {
    if (!answer) return;
    const { before, problem = "", differs = false } = answer;
    const alternatives = this.#disagreement(answer.alternatives ?? [], differs);
    const computed = alternatives.length ? null : answer.computed ?? null;
    const words = this.#line;
    if (problem) words.replaceChildren(element("span", { className: "problem", textContent: problem }));
    else if (computed) {
      const [old, now] = [before.join(" | "), computed.join(" | ")];
      const seen = element("span", { ariaHidden: "true" }, element("bdi", { textContent: old }), " → ", element("strong", { textContent: now, dir: "auto" }));
      const heard = equal(before, computed) ? t`The program still gives ${now}.` : t`The program gave ${old} and now gives ${now}.`;
      words.replaceChildren(seen, element("span", { className: "sr", textContent: heard }));
    } else words.replaceChildren();
    this.#tellComputed({ ...answer, computed, alternatives });
  }

  /** @param {Partial<ComputedAnswer>} detail */
  #tellComputed(detail) {
    this.dispatchEvent(new CustomEvent("program-computed", { bubbles: true, detail }));
  }

  /* The alternatives that are not ruled out, while they give more than one answer. An answer that came with the item, and
     that its program gives, was chosen before. */
  /** @param {readonly Alternative[]} alternatives @param {boolean} differs */
  #disagreement(alternatives, differs) {
    const chosen = alternatives.find((alternative) => gives(alternative, this.value));
    if (this.#resumed && chosen && !differs) this.#ruledOut = programsOf(alternatives.filter((other) => other !== chosen));
    this.#resumed = false;
    const open = alternatives
      .map(({ answers, programs }) => ({ answers, programs: programs.filter(({ program }) => !this.#ruledOut.some((other) => alike(program, other))) }))
      .filter(({ programs }) => programs.length);
    this.#asking = open.length > 1 ? open : [];
    this.#tidy();
    return this.#asking;
  }
}

/** @param {Alternative} alternative @param {Program | null} value */
const gives = ({ programs }, value) => programs.some(({ program }) => alike(program, value));
/** @param {readonly Alternative[]} alternatives */
const programsOf = (alternatives) => alternatives.flatMap(({ programs }) => programs.map(({ program }) => program));

customElements.define("askew-programs", AskewPrograms);
