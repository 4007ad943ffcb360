/* From Enter to the next item: what is missing, what the server has against the response, and what undoes a submission. */

import { send } from "./api.js";
import { same } from "./draft.js";
import { outside } from "./keys.js";
import { t } from "./language.js";
import { remember } from "./tab-memory.js";

export class Submission {
  /** @type {string[]} */
  done = []; // annotations submitted here, newest last
  /** @type {string[]} */
  confirmed = []; // codes of the unmet conditions that the next submission confirms

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  async submit() {
    if (this.page.isSending || this.page.item.isLost || this.page.lookback.home) return;
    if (this.page.changing) this.page.changed();
    const onward = this.page.panels.onward();
    if (onward) {
      onward.click(); // practice has judged this response already
      return;
    }
    const unfinished = await this.#settle();
    if (this.page.item.isLost) return;
    if (this.page.changing) this.page.changed(); // by what was waited for
    if (unfinished) return this.page.status.notice(t`Not submitted yet. ${unfinished}`, "problem", "submit");
    const blocking = this.page.requirements.structure().filter(({ level }) => level !== "warning");
    const [missing] = this.page.values.missing();
    if (blocking.length || missing) {
      this.page.checklist.insist();
      this.page.requirements.refresh();
      const words = [...blocking.map(({ message }) => message), ...(missing ? [missing[1]] : [])];
      this.page.status.notice(t`Not submitted yet. ${words.join(" ")}`, "problem", "submit");
      if (!blocking.length) this.page.focusField(missing[0]);
      return;
    }
    const { response } = this.page;
    const refused = await this.#refusedByServer(response.data);
    if (this.page.item.isLost || document.querySelector("dialog[open]")) return; // the place is gone, or two versions differ
    if (refused.length) return this.onInvalid({ body: { violations: refused } });
    if ("hands" in this.page.dataset) (await this.page.exercise()).hand(response);
    else if (this.page.practice) await (await this.page.exercise()).practise(response);
    else this.page.item.hear({ type: "submit", response, confirmed: this.confirmed });
  }

  /* Wait for the elements that are still working out a part of the response. Resolves to what the person has to finish
     first, in words, or "". */
  async #settle() {
    const parts = /** @type {FormPart[]} */ (outside(this.page.form, "[data-hears], [data-field]")).filter((part) => part.settle);
    /** @type {(string | undefined)[]} */
    let words = [];
    if (parts.length) await this.page.guard(async () => { words = await Promise.all(parts.map((part) => part.settle?.())); });
    return words.filter(Boolean).join(" ");
  }

  /* What the server has against this response, as far as it has seen it. Where a line of the contract is for the server
     to check, it is asked first: what a person must mend is then no failed submission. */
  /** @param {object} data */
  async #refusedByServer(data) {
    if (this.page.practice) return [];
    if (this.page.requirements.asksServer()) await this.page.guard(() => this.page.item.flush());
    const { server } = this.page.requirements;
    return server && same(server.data, data) ? server.violations.filter(({ level }) => level !== "warning") : [];
  }

  /** @param {string} action @param {any} reply */
  onEnded(action, reply) {
    const isSubmitted = action === "submit";
    if (isSubmitted) {
      this.done.push(reply.annotation.id);
      this.page.guidelines.count();
      remember(this.store(), this.done);
    }
    this.page.saving.advance(isSubmitted ? t("Previous item submitted.") : t("Previous item skipped."), reply?.next, isSubmitted ? 1 : 0);
    this.page.lookback.workChanged();
  }

  /** @param {Problem} problem */
  onNotEnded(problem) {
    if (problem.code === "invalid_response") this.onInvalid(problem);
    else if (problem.code === "unmet_conditions") this.#askToConfirm(problem);
    else this.page.status.say(problem);
  }

  async undo() {
    const last = this.done.at(-1);
    if (!last) return this.page.status.notice(t("You have no submission to undo in this batch."), "note", "submit");
    await this.page.guard(async () => {
      await this.page.item.flush();
      const assignment = await send("POST", `${this.page.dataset.api}annotations/${last}/undo/`, {});
      this.done.pop();
      remember(this.store(), this.done);
      if (assignment.id !== this.page.current.id) this.page.item.hear({ type: "shelve", assignment: this.page.current });
      this.page.item.close();
      this.page.show(assignment, { said: t("Undone. This is your last submission.") });
      this.page.lookback.workChanged();
    }, (problem) => {
      if (problem.code === "decided" || problem.status === 404) {
        this.done.pop();
        remember(this.store(), this.done);
      }
    });
  }

  /** @param {Pick<Problem, "body"> & Partial<Problem>} problem */
  onInvalid(problem) {
    const violations = /** @type {readonly PathViolation[]} */ (problem.body.violations ?? []);
    this.page.requirements.server = { data: this.page.values.collect(), violations, answer: this.page.requirements.server?.answer };
    this.page.tell("draft-checked", { violations, answer: this.page.requirements.server.answer ?? null });
    this.page.requirements.refresh();
    const blocking = violations.filter(({ level }) => level !== "warning");
    this.page.status.notice(t`Not submitted yet. ${(blocking.length ? blocking : [problem]).map(({ message }) => message).join(" ")}`, "problem", "submit");
    const name = String(blocking[0]?.path ?? "").split(/[./]/).find((part) => this.page.fields.some((field) => field.dataset.field === part));
    const field = this.page.fields.find((one) => one.dataset.field === name);
    if (field && field !== this.page.operationsField) this.page.focusField(field);
  }

  /* The server asks once about what the response leaves unmet: a reason answers it, and so does submitting again. */
  /** @param {Problem} problem */
  #askToConfirm({ message, body }) {
    this.confirmed = /** @type {Violation[]} */ (body.unmet).map(({ code }) => code);
    const reason = this.page.fields.some((field) => field.dataset.field === "reason" && !field.closest("[hidden]"));
    const how = reason ? t("Give a reason, or submit again.") : t("Submit again to confirm.");
    this.page.status.notice(t`Not submitted yet. ${message} ${how}`, "note", "submit", () => this.submit(), t("Submit anyway"));
  }

  store() {
    return `askew:done:${this.page.dataset.batch}`;
  }
}
