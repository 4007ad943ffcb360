/* What a response must meet: the contract, the checklist and the list of changes, and what the server says of the last draft. */

import { applyConditions, empty } from "./conditions.js";
import { same } from "./draft.js";
import { element } from "./elements.js";
import { SHOW } from "./item-display.js";
import { outside } from "./keys.js";
import { t } from "./language.js";
import { COLLECT, blankOf } from "./response-fields.js";
import { count, describe } from "./words.js";

const SETTLED = 600; // ms without a change until what holds is read out
const LISTED = 100; // changes that are listed one by one

export class Requirements {
  /** @type {StoredVerdict | null} */
  server = null; // violations and answer of the last saved draft
  /** @type {Map<Element, string>} */
  #held = new Map(); // what was said of each line of the contract
  /** @type {number | null} */
  #reading = null; // timer of what holds

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  /* A draft that one comes back to is judged as one that is saved. */
  /** @param {{response: ResponseBody}} draft */
  async askVerdict({ response }) {
    if (this.page.practice || this.page.lookback.home || !this.asksServer()) return;
    const { id } = this.page.current;
    const data = this.page.values.collect(); // as the form has it: a withdrawn response is stored as the server writes it
    const reply = await this.page.item.check(response);
    if (!reply || id !== this.page.current.id || this.server || !same(this.page.values.collect(), data)) return;
    this.take(reply, { data });
    this.refresh();
  }

  asksServer() {
    return this.page.places.holds.some((line) => "server" in line.dataset);
  }

  /** @param {{violations: readonly PathViolation[], answer?: any}} verdict @param {{data: Record<string, unknown>}} response */
  take({ violations, answer }, { data }) {
    this.server = { data, violations, answer };
    this.tellChecked();
  }

  /* Show a reply of the server to the present response. A reply to an earlier one is left out: the next one follows. */
  tellChecked() {
    if (!this.server || !same(this.server.data, this.page.values.collect())) return;
    const { violations, answer } = this.server;
    this.page.tell("draft-checked", { violations, answer });
  }

  /* The contract as it stands: what only the example's own program guards is free once another one counts, or none. */
  contract() {
    const { contract, shows } = this.page.current;
    const own = shows.program;
    const field = own?.guards?.length && contract?.protected ? this.page.fields.find((one) => one.dataset.field === "program") : null;
    const said = field?.value ?? null;
    if (!contract?.protected || said === null || same(said, own.program)) return contract;
    const free = new Set(own.guards.map(String));
    return { ...contract, protected: contract.protected.filter(([row, column]) => !free.has(String([row, column]))) };
  }

  structure() {
    const { shows } = this.page.current;
    const contract = this.contract();
    if (!contract || !shows.table || this.page.values.waived()) return [];
    const reason = this.page.fields.find((field) => field.dataset.field === "reason");
    return this.page.grid.violations(contract, reason ? COLLECT.text(reason, this.page.grid) : "");
  }

  /* Say on the page what holds and what does not: structure by what is here now, answers by the last saved draft. */
  refresh() {
    applyConditions(this.page.places.when, this.page.fields, (field) => COLLECT[field.dataset.kind](field, this.page.grid));
    const operations = this.page.values.operations();
    const waived = this.page.values.waived();
    const structure = this.structure();
    const current = this.server !== null && same(this.server.data, this.page.values.collect());
    const known = new Set(structure.map(({ code }) => code));
    const further = this.server && current && !waived ? this.server.violations.filter(({ code }) => !known.has(code)) : [];
    const violations = [...structure, ...further];
    const started = operations.length > 0 || this.page.fields.some((field) => !same(COLLECT[field.dataset.kind](field, this.page.grid), blankOf(field)));
    this.#listViolations(started && !waived ? violations.filter((one) => !this.page.places.holds.some(({ dataset }) => dataset.holds.split(" ").includes(one.code))) : []);
    this.#listChanges(operations);
    const limit = this.page.current.contract?.at_most;
    const over = limit !== null && limit !== undefined && operations.length > limit;
    for (const part of this.page.places.conditional) {
      part.hidden = ("unlessWaived" in part.dataset && waived) || ("overLimit" in part.dataset && !over);
    }
    for (const place of this.page.places.answer) {
      const answers = this.server?.answer?.[place.dataset.answer] ?? (place.dataset.answer === "before" ? this.page.current.shows.answers : null);
      SHOW.answers(place, answers, place.dataset.answer === "before" ? this.page.current.shows : {});
      place.closest("[data-only-with]")?.toggleAttribute("hidden", empty(answers));
    }
    this.page.checklist.update({
      violations, isChanged: operations.length > 0, waived, started, pending: !current, checks: !this.page.practice,
      lacks: (needs) => this.#lacks(needs), missing: this.page.values.missing(),
    });
    this.page.steps.update((field) => this.page.values.isEntered(field));
    this.page.turns.markTurn();
    clearTimeout(this.#reading);
    this.#reading = setTimeout(() => this.#readOut(), SETTLED);
  }

  /* What holds and what does not, read out when nothing has changed for a moment: only lines that say something new. */
  #readOut() {
    const words = [];
    for (const line of [...this.page.places.holds, ...this.page.places.violations]) {
      if (line.parentElement.closest("[hidden]")) continue; // a line that is not listed any more is done: that is news
      const now = line.dataset.holds
        ? `${line.firstElementChild?.textContent}: ${[line.querySelector(".state").textContent, line.querySelector("[data-why]")?.textContent].filter(Boolean).join(". ")}`
        : [...line.children].map(({ textContent }) => textContent).join(" ");
      const open = !now || ["open", "waived"].includes(line.dataset.state);
      if (!open && this.#held.get(line) !== now) words.push(now);
      this.#held.set(line, open ? "" : now);
    }
    if (words.length) this.page.status.announce(words.join(" "));
  }

  /* Whether an item has none of what a line of the checklist needs: protected cells, evidence, a program. */
  /** @param {string | undefined} needs */
  #lacks(needs) {
    const { shows } = this.page.current;
    const contract = this.contract();
    /** @type {Record<string, boolean>} */
    const there = { protected: Boolean(contract?.protected?.length), evidence: Boolean(shows.evidence), program: this.page.hasAttribute("data-program") };
    return Boolean(needs) && !needs?.split(" ").some((name) => there[name]);
  }

  /** @param {readonly Violation[]} violations */
  #listViolations(violations) {
    const [list] = this.page.places.violations;
    if (!list) return;
    const words = violations.map(({ message, level }) => (level === "warning" ? t`Please check: ${message}` : message));
    if (same(words, [...list.children].map((item) => item.textContent))) return;
    list.replaceChildren(...words.map((text) => element("li", { textContent: text })));
    list.hidden = !words.length;
  }

  /** @param {readonly Operation[]} operations */
  #listChanges(operations) {
    const [list] = this.page.places.changes;
    if (!list) return;
    const table = this.page.current.shows.table;
    const words = operations.slice(0, LISTED).map((operation) => describe(operation, table));
    if (operations.length > LISTED) words.push(t`and ${count(operations.length - LISTED, "more change")}`);
    const limit = this.page.current.contract?.at_most;
    const [summary] = this.page.places.count;
    this.#hintAtLimit(operations.length, limit);
    if (summary) summary.textContent = count(operations.length, "change") + (Number.isInteger(limit) ? ` (${t`at most ${limit}`})` : "");
    if (same(words, [...list.children].map((item) => item.firstChild?.textContent))) return;
    list.replaceChildren(...words.map((text, index) => {
      if (index === LISTED) return element("li", {}, element("span", { className: "soft", textContent: text }));
      const back = element("button", { type: "button", className: "quiet small", textContent: t("Revert"), ariaLabel: t`Revert: ${text}`, dataset: { takeBack: index } });
      return element("li", {}, element("span", { textContent: text, dir: "auto" }), " ", back);
    }));
  }

  /* What a person can do next: change a cell, or decide about a change when all that are allowed are used. */
  /** @param {number} used @param {number | null | undefined} limit */
  #hintAtLimit(used, limit) {
    const [hint] = this.page.places.hint;
    if (!hint) return;
    const reason = Boolean(this.page.current.contract?.more_with_reason);
    let words = t("Type into a cell to change it.");
    if (Number.isInteger(limit) && used > Number(limit)) words = reason ? t("Revert a change, or give the reason below.") : t("Revert a change.");
    else if (Number.isInteger(limit) && used === limit) {
      words = reason ? t("All used. Revert one, or change more and give the reason.") : t("All used. Revert one to change another cell.");
    }
    if (hint.textContent !== words) hint.textContent = words;
  }

  /* A new item begins: what was said about the last one goes. Elements of the kind clear what they made themselves. */
  silence() {
    clearTimeout(this.#reading);
    this.#held.clear();
    for (const place of outside(this.page, "[role=status]")) if (!place.firstElementChild) place.textContent = "";
  }
}
