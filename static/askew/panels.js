/* The bar of actions: skip, flag and ask with their panels, and the keys in them. */

import { send } from "./api.js";
import { writes } from "./keys.js";
import { t } from "./language.js";

export class Panels {
  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  /* Why the last item was skipped, and what was about to be written to the managers, is nothing about this one. */
  forgetNotes() {
    document.querySelector("form[data-action=skip]")?.reset();
    for (const name of ["flag_note", "ask_text"]) if (this.#field(name)) this.#field(name).value = "";
  }

  /** @param {string} name @returns {HTMLTextAreaElement} */
  #field(name) {
    return /** @type {HTMLTextAreaElement} */ (this.page.form.elements.namedItem(name));
  }

  /** @param {At<KeyboardEvent, PagePart<HTMLInputElement>>} event */
  onKey(event) {
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
      this.toActions();
    } else if (panel?.dataset.panel === "skip" && this.#skipsBecause(event)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.isComposing && this.#enters(event, panel)) {
      event.preventDefault();
      if (!event.repeat) this.act(panel?.dataset.panel ?? "submit");
    }
  }

  /* A digit in the panel of skip is one of the reasons, and done: nothing is chosen for anybody beforehand. */
  /** @param {KeyPress} event */
  #skipsBecause({ key, target, ctrlKey, metaKey, altKey, repeat }) {
    if (ctrlKey || metaKey || altKey || repeat || writes(target) || !/^[1-9]$/u.test(key)) return false;
    const reason = [...document.querySelectorAll("input[name=skip_reason]")][Number(key) - 1];
    if (!reason) return false;
    reason.checked = true;
    this.skip();
    return true;
  }

  toActions() {
    (this.onward() ?? this.page.bar.querySelector("button[value=submit]")).focus();
  }

  /* In practice, once a response was judged: the button that leads to what comes next. */
  onward() {
    return this.page.bar.querySelector("[data-feedback]:not([hidden]) button.primary");
  }

  /* Whether this Enter acts for the whole item, or for the panel it is pressed in. Alone it does so in a panel only, and
     where it has no meaning of its own; elsewhere it is a key that can be moved (keys.js). */
  /** @param {At<KeyboardEvent, PagePart<HTMLInputElement>>} event @param {Element | null} panel */
  #enters({ target, ctrlKey, metaKey, shiftKey }, panel) {
    if (ctrlKey || metaKey) return Boolean(panel) || !target.closest("a, [data-feedback]");
    // A field of a single line, in which Enter submits; Shift Enter begins a second line, and from then on Enter is a line.
    if (target.matches("[data-enter-submits]")) return !shiftKey && target.value.trim() !== "" && !target.value.includes("\n");
    return Boolean(panel) && !target.closest("button, a, summary, textarea");
  }

  /** @param {string} action */
  act(action) {
    if (action === "submit") this.page.submission.submit();
    else if (action === "skip") this.skip();
    else if (action === "flag") this.flag();
    else if (action === "ask") this.ask();
    else if (action === "undo") this.page.submission.undo();
    else if (action === "save") this.page.item.flush();
  }

  async skip() {
    const chosen = new FormData(document.querySelector("form[data-action=skip]"));
    const reason = String(chosen.get("skip_other") ?? "").trim() || String(chosen.get("skip_reason") ?? "");
    if (!reason) return this.page.status.notice(t("Choose or write a reason for skipping this item."), "problem", "submit");
    if (!this.page.isSending) this.page.item.hear({ type: "skip", reason });
  }

  flag() {
    return this.#tell("flag", "note", t("Enter what the managers should check."), t("Flagged. The managers of this project can read your note. The item stays with you."));
  }

  ask() {
    return this.#tell("ask", "text", t("Enter a question."), t("Question sent. The answer will appear here and on “My work”. The item stays with you."));
  }

  /* Send what is written in the panel of an action to the managers. */
  /** @param {string} action @param {string} part @param {string} missing @param {string} sent */
  async #tell(action, part, missing, sent) {
    const field = this.#field(`${action}_${part}`);
    const text = field.value.trim();
    if (!text) return this.page.status.notice(missing, "problem", "submit");
    await this.page.guard(async () => {
      await send("POST", this.page.url(action), { [part]: text });
      field.value = "";
      this.closePanels();
      this.page.status.notice(sent, "note", "submit");
      this.toActions();
    });
  }

  /* Where letters go into a field, Enter is the field's own key as well. In a table, a list or a field of one line it submits,
     or leads on to where the next one does. */
  /** @param {any} target */
  typing(target) {
    const on = writes(target);
    const text = on && target.matches("textarea, input");
    const kind = text ? (target.matches("[data-enter-submits], [data-enter-leads-on]") ? "line" : "text") : "";
    for (const part of [this.page.panel, this.page.bar]) {
      if (on) part.dataset.typing = kind;
      else delete part.dataset.typing;
    }
    const hint = this.page.bar.querySelector("[data-while-typing]");
    hint?.toggleAttribute("data-on", on && !this.page.keys.off);
  }

  /** @param {string} name */
  openPanel(name) {
    const panel = this.page.bar.querySelector(`details[data-panel=${name}]`);
    if (!panel) return;
    panel.open = true;
    (panel.querySelector("input:checked") ?? panel.querySelector("input, textarea") ?? panel).focus();
  }

  /** @param {Element | null} except */
  closePanels(except = null) {
    for (const panel of this.page.bar.querySelectorAll("details[data-panel][open]")) if (panel !== except) panel.open = false;
  }
}
