/* The checklist of a form (`.contract` with lines `[data-holds]`): it lists what is missing, in order, and says when nothing is.

   A line with `data-goal` is something to do: it is listed until it is done. Any other line is a condition: it is listed
   while it is broken. Fields that still need something come before the lines if their field is before the table's
   (`changes`), else after them, and lead to their field. While the server checks a change, a line that was fine stays away,
   so that the list does not jump. That the table is unchanged is no fault until it was changed once or a submission was
   tried. */

import { element } from "./elements.js";
import { t } from "./language.js";

/** @type {Record<string, string>} */
const STATES = { yes: t("OK"), no: t("not yet"), look: t("please check"), open: t("waiting"), waived: t("not required") };
const UNCHANGED = "table_unchanged";
const NAMED = 3; // problems of one line that are named; of more, their number is

export class Checklist {
  /** @type {readonly PagePart[]} */
  #lines;
  /** @type {HTMLElement | null} */
  #ready;
  /** @type {HTMLElement | null} */
  #list;
  /** @type {Map<Field, HTMLElement>} */
  #required = new Map(); // field -> its line
  /** @type {WeakSet<HTMLElement>} */
  #fine = new WeakSet(); // lines that were fine when they were last checked
  #isChangeDue = false;

  /** @type {HTMLElement | null} */
  #changes;
  /** @type {(field: Field) => void} */
  #go;

  /* list: the list of the lines, or null; changes: the field of the changes to the table, or null; go(field) moves the focus
     to a field that needs something. */
  /** @param {HTMLElement | null} list @param {readonly PagePart[]} lines @param {HTMLElement | null} ready @param {HTMLElement | null} changes @param {(field: Field) => void} go */
  constructor(list, lines, ready, changes, go) {
    this.#list = list;
    this.#lines = lines;
    this.#changes = changes;
    this.#go = go;
    this.#ready = ready;
  }

  /* A new item begins. */
  begin() {
    this.#fine = new WeakSet();
    this.#isChangeDue = false;
    for (const line of this.#required.values()) line.remove();
    this.#required.clear();
  }

  /* A submission was tried: nothing is left for later. */
  insist() {
    this.#isChangeDue = true;
  }

  /* violations: of the response as it is; isChanged: whether the table is; pending: the server has not checked it yet;
     checks: whether it will; lacks(names): whether an item has none of "protected", "evidence", "program"; missing: what
     fields still need, each [field, sentence]. */
  /** @param {FormState} state */
  update({ violations, isChanged, waived, started, pending, checks, lacks, missing }) {
    if (!this.#list) return;
    this.#isChangeDue ||= isChanged;
    const required = missing.map(([, sentence]) => sentence); // they have lines that lead to their fields
    const early = this.#isChangeDue ? [] : violations.filter(({ code }) => code === UNCHANGED).map(({ message }) => message);
    const unsaid = new Set([...required, ...early]);
    for (const line of this.#lines) {
      this.#mark(line, started ? violations : [], unsaid, { waived, started, pending, lacks });
      line.hidden = !this.#listed(line, { started, pending, checks });
    }
    this.#listRequired(waived ? [] : missing);
    const empty = /** @type {HTMLElement[]} */ ([...this.#list.children]).every(({ hidden }) => hidden);
    const broken = !waived && violations.some(({ level }) => level !== "warning");
    if (!this.#ready) return;
    this.#ready.hidden = !empty || broken;
    const waits = pending && checks && started && !waived && this.#lines.some(({ dataset }) => "server" in dataset);
    this.#ready.toggleAttribute("data-checking", waits);
    const words = waits ? t("Checking…") : t("Ready to submit");
    if (this.#ready.textContent !== words) this.#ready.textContent = words;
  }

  /* unsaid: messages that this line does not show; if it has only such violations, it is waiting. */
  /** @param {PagePart} line @param {readonly Violation[]} violations @param {ReadonlySet<string>} unsaid @param {Pick<FormState, "waived" | "started" | "pending" | "lacks">} state */
  #mark(line, violations, unsaid, { waived, started, pending, lacks }) {
    const codes = line.dataset.holds.split(" ");
    const ofLine = violations.filter(({ code }) => codes.includes(code));
    const shown = ofLine.filter(({ message }) => !unsaid.has(message));
    const worst = shown.find(({ level }) => level !== "warning") ?? shown[0];
    const isUnchecked = "server" in line.dataset && pending;
    let state = "yes";
    if (waived) state = "waived";
    else if (worst) state = worst.level === "warning" ? "look" : "no";
    else if (!started || shown.length < ofLine.length || isUnchecked || lacks(line.dataset.needs)) state = "open";
    line.dataset.state = state;
    line.querySelector(".state").textContent = STATES[state];
    const why = line.querySelector("[data-why]");
    const words = waived ? "" : named(shown.map(({ message }) => message));
    if (why && why.textContent !== words) why.textContent = words;
    if (state === "yes") this.#fine.add(line);
    else if (state !== "open") this.#fine.delete(line);
  }

  /** @param {HTMLElement} line @param {Pick<FormState, "started" | "pending" | "checks">} state */
  #listed(line, { started, pending, checks }) {
    const { state, goal } = line.dataset;
    if (state === "no" || state === "look") return true;
    if (state !== "open" || goal === undefined) return false;
    const known = started && pending && (this.#fine.has(line) || !checks); // nobody will check it here: practice
    return !(known && "server" in line.dataset);
  }

  /** @param {FormState["missing"]} missing */
  #listRequired(missing) {
    const sentences = new Map(missing);
    for (const [field, line] of this.#required) {
      if (sentences.has(field)) continue;
      line.remove();
      this.#required.delete(field);
    }
    for (const [field, sentence] of sentences) {
      const line = this.#required.get(field) ?? this.#line(field);
      const link = /** @type {HTMLElement} */ (line.firstElementChild);
      if (link.textContent !== sentence) link.textContent = sentence;
      this.#required.set(field, line);
      if (line.isConnected) continue;
      const isFirst = this.#changes && follows(this.#changes, field);
      const next = [...this.#required].find(([other, { isConnected }]) => isConnected && follows(other, field));
      const isInGroup = next && (!isFirst || !this.#changes || follows(this.#changes, next[0]));
      this.#list?.insertBefore(line, isInGroup ? next[1] : isFirst && this.#lines[0] || null);
    }
  }

  /** @param {Field} field */
  #line(field) {
    const link = element("button", { type: "button", className: "link" });
    link.addEventListener("click", () => this.#go(field));
    return element("li", { className: "required", dataset: { state: "open" } }, link);
  }
}

/** @param {Element} one @param {Element} other */
const follows = (one, other) => Boolean(other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);

/** @param {readonly string[]} messages */
export function named(messages) {
  const more = messages.length > NAMED ? [t`And ${messages.length - NAMED} more.`] : [];
  return [...messages.slice(0, NAMED), ...more].join(" ");
}
