/* Earlier items in place of the current one (past.js), the person's session (session.js) and examples, each fetched when it is
   first wanted. */

import { later, styled } from "./later.js";

export const PAST = "askew:past"; // whether the strip of earlier items was left open in this browser

export class Lookback {
  /** @type {ItemAssignment | null} */
  home = null; // the current item while an earlier one is looked back on (past.js)
  #session = later(async () => {
    const { Session } = await import("./session.js");
    this.page.session = new Session(this.page, this.#url("session"));
  });
  #past = later(() => this.page.status.fetched(async () => {
    const { Past } = await import("./past.js");
    return (this.page.past = new Past(this.page, this.#url("history"), PAST));
  }));

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  /** @param {string} name */
  #url(name) {
    return `${this.page.dataset.api}batches/${this.page.dataset.batch}/${name}/`;
  }

  /* What the page shows of the person's own work is asked for again. */
  workChanged() {
    this.page.past?.changed();
    this.page.session?.refresh();
  }

  /* Show the person's session (session.js) where the page has a place for it, and keep it up to date. */
  async showSession() {
    await this.#session();
    await this.page.session?.refresh();
  }

  async showExamples() {
    const { showExamples } = await this.page.status.fetched(() => styled(() => import("./examples.js")));
    await showExamples(this.#url("examples"));
  }

  /** @param {(past: import("./past.js").Past) => unknown} act */
  async lookAround(act) {
    act(await this.#past());
  }
}
