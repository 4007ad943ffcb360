/* Choices by key, and questions that are answered in turn: the last choice submits the item. */

import { t } from "./language.js";

export class Turns {
  /** @type {Field | null} */
  #due = null; // the question that is missing first, where choices submit
  /** @type {Field[]} */
  again = []; // groups of choices that were all made when the item came, and not yet made again by key

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  /* Choose by key: among the inputs that share the key, the one whose group has no choice yet. Where several groups
     were all chosen when the item came (a submission that was undone), they are gone through once more. Of questions
     that are answered in turn, a key that the one whose turn it is does not have changes none of the others. */
  /** @param {readonly KeyOption[]} actions @param {string} text @param {{input?: HTMLInputElement} | null} typed */
  choose(actions, text, typed) {
    const inputs = actions.map(({ input }) => input);
    let input = typed ? inputs[0] : this.#aim(inputs);
    this.page.status.clearNotices("key");
    if (!input) {
      const key = this.page.keys.shown(text);
      const turn = this.committing().find((group) => this.#isOpen(group));
      if (turn) return this.page.status.notice(t`“${turn.dataset.label}” has no option ${key}. Nothing was changed.`, "note", "key");
      input = inputs.find((each) => each.closest("[data-field]").contains(document.activeElement));
      if (!input) return this.page.status.notice(t("Every question is answered. Go to the one you want to change."), "note", "key");
    }
    if (input.matches("button")) return input.click();
    const group = /** @type {Field} */ (input.closest("[data-field]"));
    const options = actions.filter((action) => group?.contains(action.input));
    const goesOn = options.some(({ key }) => key.length > text.length); // one more digit makes another option of it
    if (goesOn) input = options.find(({ key }) => key === text)?.input;
    if (typed?.input?.type === "checkbox") typed.input.checked = !typed.input.checked; // it was the beginning of this one
    if (input?.type === "checkbox") input.checked = !input.checked;
    else if (input?.type === "radio") input.checked = true;
    else if (input) return this.#write(input);
    else for (const chosen of group.querySelectorAll("input[type=radio]:checked")) chosen.checked = false; // no option has that number
    (input ?? options[0].input).dispatchEvent(new Event("change", { bubbles: true })); // as if it had been clicked; a listener may move on
    if (input?.type === "radio") input.focus(); // where it was pressed, should the submission be refused
    if (goesOn) {
      this.page.keys.typed = { text, group, input };
      this.page.status.notice(t`Typed: ${text}. Type the next digit, or press Enter.`, "note", "key");
    } else this.commit(group);
  }

  /* Enter after a number: true where a further question is open, which Enter then leads to. */
  /** @param {Pick<TypedNumber, "group">} typed */
  endNumber({ group }) {
    const [missing] = this.page.values.missing();
    if (!missing || missing[0] === group) return false;
    this.page.status.clearNotices("key");
    this.page.focusField(missing[0]);
    return true;
  }

  /* The one of the inputs that their key acts on; undefined where the questions in turn have it for none that is open. */
  /** @param {readonly HTMLInputElement[]} inputs */
  #aim(inputs) {
    const groups = inputs.map((input) => /** @type {Field} */ (input.closest("[data-field]")));
    let index = groups.findIndex((group) => group && isUnanswered(group));
    if (index < 0) index = groups.findIndex((group) => this.again.includes(group));
    const turns = this.committing();
    if (index < 0 && turns.length > 1 && inputs.every(({ type }, at) => type === "radio" && turns.includes(groups[at]))) return undefined;
    return inputs[Math.max(0, index)];
  }

  /** @param {Field} group */
  #isOpen(group) {
    return isUnanswered(group) || this.again.includes(group);
  }

  /* A choice was made, by key or pointer: when it was the last one that was open, the item is submitted. Where numbers of
     several digits are typed, Enter does that. */
  /** @param {Field} group */
  commit(group) {
    const turns = this.committing();
    this.again = this.again.filter((one) => one !== group);
    const isComplete = !this.again.length && turns.every((field) => field.querySelector(":checked"));
    if (turns.includes(group) && isComplete && !this.page.keys.takesNumbers(turns)) this.page.submission.submit();
  }

  /* Whether something is written in every required text: a choice made before is kept, and submits nothing. */
  isWritten() {
    const texts = this.page.fields.filter(({ dataset }) => "required" in dataset && ["text", "lines", "numbers"].includes(dataset.kind));
    return texts.every((field) => field.closest("[hidden]") || this.page.values.isEntered(field));
  }

  /* Mark the choice whose turn it is, and the keys that would act on another one. */
  markTurn() {
    const turns = this.committing();
    const turn = turns.find((group) => this.#isOpen(group)) ?? turns.at(-1);
    for (const group of turns) group.toggleAttribute("data-turn", group === turn && turns.length > 1);
    const sharing = new Map();
    for (const { key, input } of this.page.keys.table()) if (input) sharing.set(key.toLowerCase(), [...sharing.get(key.toLowerCase()) ?? [], input]);
    for (const inputs of sharing.values()) {
      const aim = this.#aim(inputs);
      for (const input of inputs) input.closest("label")?.querySelector("kbd")?.toggleAttribute("data-elsewhere", Boolean(aim) && aim !== input);
    }
    this.#markDue(turns);
    this.#tellCommits(turns);
  }

  /* Mark the question that is missing first, in the order of the page: a small screen keeps only that in sight. That can be
     a question which a choice has led to, as what is wrong where a score is low. */
  /** @param {readonly Field[]} turns */
  #markDue(turns) {
    const followUps = turns.length ? this.#followUps() : [];
    const questions = this.page.fields.filter((field) => turns.includes(field) || followUps.includes(field));
    const due = questions.find((group) => this.#isOpen(group)) ?? turns.at(-1) ?? null;
    for (const field of this.page.fields) field.toggleAttribute("data-due", field === due && questions.length > 1);
    if (due === this.#due) return;
    if (due && followUps.includes(due)) this.page.status.announce(due.dataset.required);
    else if (this.#due && followUps.includes(this.#due)) this.page.commits?.moved();
    this.#due = due;
  }

  #followUps() {
    return this.page.fields.filter((field) => field.dataset.kind === "choices" && "required" in field.dataset && !field.closest("[hidden]"));
  }

  /* Below the last of the choices that submit: that they do. Until then Submit is no more prominent than the rest. */
  /** @param {readonly Field[]} turns */
  #tellCommits(turns) {
    const [line] = this.page.places.commits;
    if (!line) return; // practice submits nothing
    const submits = turns.length > 0 && this.isWritten() && !this.page.keys.takesNumbers(turns);
    this.page.bar.toggleAttribute("data-choice-submits", submits && turns.some((group) => this.#isOpen(group)));
    // Before the person has written, and while another question is open, a choice submits nothing.
    line.hidden = !submits || this.#followUps().some((group) => this.#isOpen(group));
    if (!turns.length || turns.at(-1).contains(line)) return;
    for (const sentence of /** @type {HTMLCollectionOf<PagePart>} */ (line.children)) sentence.textContent = sentence.dataset[turns.length > 1 ? "several" : "single"];
    turns.at(-1).append(line);
  }

  /* Go on behind what is in a field; what was filled in is selected by the field itself, and replaced. */
  /** @param {HTMLInputElement} input */
  #write(input) {
    input.focus();
    if (input.matches("textarea, [type=text]") && input.selectionStart === input.selectionEnd) input.setSelectionRange(input.value.length, input.value.length);
  }

  committing() {
    return this.page.fields.filter((field) => "commit" in field.dataset && !field.closest("[hidden]"));
  }
}

/* Whether too few options are chosen in a field, a rank is free, or words are selected that have no label yet. */
/** @param {Element & { hasSelection?: boolean }} group */
function isUnanswered(group) {
  if (group.hasSelection !== undefined) return group.hasSelection;
  const ranks = [...group.querySelectorAll("select")];
  if (ranks.length) return ranks.some(({ value }) => !value);
  return group.querySelectorAll(":checked").length < (Number(/** @type {HTMLElement} */ (group).dataset.fewest) || 1);
}
