/* Earlier items in place of the current one (past.js), the person's session (session.js) and examples, each fetched when it is
   first wanted. */

import { Problem, send } from "./api.js";
import { t } from "./language.js";
import { clock } from "./page-status.js";
import { remember } from "./tab-memory.js";

export const PAST = "askew:past"; // whether the strip of earlier items was left open in this browser

export class Lookback {
  /** @type {ItemAssignment | null} */
  home = null; // the current item while an earlier one is looked back on (past.js)
  /** @type {Promise<void> | null} */
  #ownSession = null; // a promise of the session, once it is shown
  /** @type {Promise<import("./past.js").Past> | null} */
  #strip = null; // a promise of the strip of earlier items, once somebody has asked for it

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  /* What the page shows of the person's own work is asked for again. */
  workChanged() {
    this.page.past?.changed();
    this.page.session?.refresh();
  }

  /* Show the person's session (session.js) where the page has a place for it, and keep it up to date. */
  async showSession() {
    this.#ownSession ??= import("./session.js").then(({ Session }) => {
      this.page.session = new Session(this.page, `${this.page.dataset.api}batches/${this.page.dataset.batch}/session/`);
    }).catch((problem) => {
      this.#ownSession = null; // the next time it is asked for again
      throw problem;
    });
    await this.#ownSession;
    await this.page.session?.refresh();
  }

  async showExamples() {
    const { showExamples } = await this.#fetched(() => import("./examples.js"));
    await showExamples(`${this.page.dataset.api}batches/${this.page.dataset.batch}/examples/`);
  }

  /* The strip of earlier items, fetched when it is first wanted. */
  /** @param {(past: import("./past.js").Past) => unknown} act */
  async lookAround(act) {
    this.#strip ??= this.#fetched(() => import("./past.js")).then(({ Past }) => {
      this.page.past = new Past(this.page, `${this.page.dataset.api}batches/${this.page.dataset.batch}/history/`, PAST);
      return this.page.past;
    }).catch((problem) => {
      this.#strip = null; // the next time it is asked for again
      throw problem;
    });
    act(await this.#strip);
  }

  /* A module that a person asked for. That it does not come is said. */
  /** @template T @param {() => Promise<T>} load */
  async #fetched(load) {
    try {
      return await load();
    } catch (problem) {
      this.page.status.say(new Problem(0));
      throw problem;
    }
  }

  /* Show an earlier item of this person in place of the current one, to be read. Resolves to whether it is shown. */
  /** @param {EarlierItem} item */
  async lookBack(item) {
    let shown = false;
    await this.page.guard(async () => {
      if (!this.home) {
        if (this.page.changing) this.page.changed();
        await this.page.item.flush();
        this.home = this.page.current;
        this.page.item.close();
      }
      this.page.show(asPast(item, this.home), { said: t`Submitted ${clock(item.ended_at)}` });
      this.#readOnly(true);
      shown = true;
    });
    return shown;
  }

  /* Go on with the current item, with what was entered in it. */
  comeBack() {
    if (!this.home) return;
    this.page.show(this.#leavePast(), { isBack: true });
    this.page.saving.carryOut();
  }

  /* Withdraw an earlier submission and open its item. Resolves to the problem if it is refused, else null. */
  /** @param {string} annotation @returns {Promise<Problem | null>} */
  async reopen(annotation) {
    let refused = null;
    await this.page.guard(async () => {
      const assignment = await send("POST", `${this.page.dataset.api}annotations/${annotation}/undo/`, {});
      this.page.submission.done = this.page.submission.done.filter((id) => id !== annotation);
      remember(this.page.submission.store(), this.page.submission.done);
      this.page.item.hear({ type: "shelve", assignment: this.#leavePast() });
      this.page.show(assignment, { said: t("Response withdrawn.") });
      this.page.status.notice(t("Change your response and submit it again."), "note");
    }, (problem) => {
      refused = problem;
      return true;
    });
    return refused;
  }

  #leavePast() {
    const home = /** @type {ItemAssignment} */ (this.home);
    this.home = null;
    this.#readOnly(false);
    this.page.current = { ...this.page.current, guidelines: home.guidelines };
    return home;
  }

  /** @param {boolean} on */
  #readOnly(on) {
    this.page.toggleAttribute("data-looking-back", on);
    for (const part of [...this.page.panel.children, ...this.page.bar.children]) /** @type {HTMLElement} */ (part).inert = on;
  }
}

/* An earlier item as the page shows it: to be read, with its response, and with nothing that would be asked about it. */
/** @param {EarlierItem} item @param {ItemAssignment} home @returns {ItemAssignment} */
function asPast(item, home) {
  const data = item.response?.data ?? {};
  return {
    ...home, ...item, grid: "read", suggests: "", loop: null, help: "", answers: [], sent_back: null, annotation: null, same_question: null,
    draft: { revision: 0, response: /** @type {ResponseBody} */ ({ data, unsure: item.unsure }), saved_at: item.ended_at },
  };
}
