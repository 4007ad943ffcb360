/* <askew-programs>: how the answer follows from the table, as a program that a person confirms among a few.

   A field of JSON (data-kind="json"): its value is the program that is chosen, {"op": "none"} where none of them is
   right, null where nothing was said. What is offered comes with the item (data-show="program": the program that the
   example has already, chosen from the start) and with the suggestions ({programs: [{program, value, words}], note}).
   With every draft the server runs the program again; the element writes old -> new and says `program-computed`
   {before, computed, differs}, which bubbles. */

import { equal } from "./operations.js";

const NONE = { op: "none" };
const NOTHING_FOUND = "No program was found that gives this answer. Work the new one out by hand.";
const NOT_HERE = "Nothing is offered while you practise.";
const EARLIER = "The program that was chosen before";

export class AskewPrograms extends HTMLElement {
  #own = null; // {program, words}
  #offered = [];
  #waiting = false;
  #note = "";
  #list = null;
  #line = null;
  #said = null;

  connectedCallback() {
    if (this.#list) return;
    this.querySelector("[data-offered]")?.remove(); // what a page without scripts was given
    this.#list = this.appendChild(make("div", { className: "choices programs" }));
    this.#said = this.appendChild(make("p", { className: "soft small" }));
    this.#line = this.appendChild(make("p", { className: "computed", ariaLive: "polite" }));
    this.addEventListener("item-shown", ({ detail }) => {
      const { practice } = this.closest("askew-annotate");
      this.#waiting = detail.assignment.suggests === "before" && !practice;
      if (practice) this.#note = NOT_HERE;
      this.#say();
    });
    this.addEventListener("item-suggested", ({ detail }) => this.#take(detail));
    this.addEventListener("draft-checked", ({ detail }) => this.#compute(detail.answer));
    this.addEventListener("change", () => {
      this.#line.replaceChildren();
      this.#tellPage();
    });
  }

  /* The program that comes with an item; a new item begins. */
  shown(own) {
    this.#own = own ?? null;
    this.#offered = this.#own ? [{ ...this.#own }] : [];
    this.#note = "";
    this.#line.replaceChildren();
    this.#paint(null);
  }

  get blank() {
    return this.#own?.program ?? null;
  }

  get value() {
    const chosen = this.querySelector("input:checked");
    return chosen ? JSON.parse(chosen.value) : null;
  }

  set value(value) {
    this.#paint(value ?? null);
  }

  #take({ suggestions, reason }) {
    this.#waiting = false;
    const known = this.#own ? [{ ...this.#own }] : [];
    const fresh = (suggestions?.programs ?? []).filter(({ program }) => !known.some((one) => alike(one.program, program)));
    this.#offered = [...known, ...fresh];
    this.#note = suggestions ? suggestions.note ?? "" : reason ?? "";
    const focused = this.contains(document.activeElement);
    this.#paint(this.value);
    if (focused) (this.querySelector("input:checked") ?? this.querySelector("input"))?.focus();
  }

  #paint(value) {
    const offered = [...this.#offered];
    if (value && !alike(value, NONE) && !offered.some(({ program }) => alike(program, value))) {
      offered.push({ program: value, words: EARLIER });
    }
    const rows = offered.map(({ program, words }, index) => this.#choice(program, words, String(index + 1), value));
    if (rows.length) rows.push(this.#choice(NONE, "None of these", "n", value));
    this.#list.replaceChildren(...rows);
    this.#say();
    this.#tellPage();
  }

  /* What depends on a program is shown with one. By an attribute: a rule with :has() on the whole page would be looked at
     again with every change in a large table. */
  #tellPage() {
    const { value } = this;
    this.closest("askew-annotate")?.toggleAttribute("data-program", value !== null && !alike(value, NONE));
  }

  #choice(program, words, key, value) {
    const label = make("label");
    const text = JSON.stringify(program);
    const input = make("input", { type: "radio", name: "program", value: text, checked: value !== null && alike(program, value) });
    Object.assign(input.dataset, { key, label: words });
    const shortcut = make("kbd", { textContent: key.toUpperCase() });
    shortcut.dataset.shortcut = `program:${text}`;
    label.append(input, make("span", { textContent: words, dir: "auto" }), shortcut);
    return label;
  }

  #say() {
    const nothing = !this.#offered.length && !this.#waiting ? this.#note || NOTHING_FOUND : "";
    this.#said.textContent = this.#waiting ? "Looking for what the answer may be computed by…" : nothing || this.#note;
    this.#said.hidden = !this.#said.textContent;
  }

  #compute(answer) {
    if (!answer) return;
    const { before, computed = null, problem = "" } = answer;
    const words = this.#line;
    if (problem) words.replaceChildren(make("span", { className: "problem", textContent: problem }));
    else if (computed) {
      const [old, now] = [before.join(" | "), computed.join(" | ")];
      const seen = make("span", { ariaHidden: "true" });
      seen.append(bidi(old), " → ", make("strong", { textContent: now, dir: "auto" }));
      const heard = same(before, computed) ? `The program still gives ${now}.` : `The program gave ${old} and gives ${now} now.`;
      words.replaceChildren(seen, make("span", { className: "sr", textContent: heard }));
    } else words.replaceChildren();
    this.dispatchEvent(new CustomEvent("program-computed", { bubbles: true, detail: answer }));
  }
}

/* Whether two pieces of JSON say the same, in whatever order their fields stand. */
function alike(one, other) {
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((part, at) => alike(part, other[at]));
  }
  if (!one || !other || typeof one !== "object" || typeof other !== "object") return one === other;
  const names = Object.keys(one);
  return equal(names.sort(), Object.keys(other).sort()) && names.every((name) => alike(one[name], other[name]));
}

const same = (one, other) => one.join("\n") === other.join("\n");
const bidi = (text) => make("bdi", { textContent: text });
const make = (name, properties = {}) => Object.assign(document.createElement(name), properties);

customElements.define("askew-programs", AskewPrograms);
