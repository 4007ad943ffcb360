/* The person's last items in this batch: a slim strip above the bar, and a way back to each of them without loading a page.

   An item that is looked back on takes the place of the current one, with its response, to be read. Enter withdraws the
   response so that it can be changed, where that is still allowed; Esc returns to the current item. While somebody looks
   back, every other key rests: the form shows what was submitted, and nothing is entered into it.

   `lookback.home` of the page (annotate.js) is the current item meanwhile. */

import { isKeptOpen, keep } from "./browser-storage.js";
import { element } from "./elements.js";
import { t } from "./language.js";
import { Problem, send } from "./api.js";
import { clock } from "./page-status.js";
import { remember } from "./tab-memory.js";

const PASSED_ON = new Set(["Tab", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", "Shift"]);

export class Past {
  /** @type {AnnotatePage} */
  #page;
  /** @type {string} */
  #url;
  /** @type {string} */
  #store;
  /** @type {readonly PastItem[] | null} */
  #items = null; // newest first; null before they are asked for
  #at = -1; // which of them is shown; -1 is the current item
  /** @type {Promise<void> | null} */
  #asking = null;
  #changes = 0; // how often they have changed
  /** @type {Promise<unknown>} */
  #steps = Promise.resolve(); // the last one asked for; keys may come faster than items
  #stepping = 0;

  /* `url` lists the items; `store` is the name under which this browser keeps whether the strip is open. */
  /** @param {AnnotatePage} page @param {string} url @param {string} store */
  constructor(page, url, store) {
    this.#page = page;
    this.#url = url;
    this.#store = store;
    this.strip = page.querySelector("[data-past]");
    this.list = this.strip.querySelector("ol");
    this.words = this.strip.querySelector("[data-past-words]");
    this.button = page.querySelector("[data-past-button]");
    this.change = this.strip.querySelector("button[data-past-change]");
    this.list.addEventListener("click", (event) => {
      const line = event.target.closest("button");
      if (line) this.#after(() => this.#choose(line.dataset.item));
    });
    this.change.addEventListener("click", () => this.#after(() => this.#reopen()));
    this.strip.querySelector("[data-past-back]").addEventListener("click", () => this.#after(() => this.#go(-1)));
    document.addEventListener("keydown", (event) => this.#onKey(event), { capture: true });
  }

  get looking() {
    return this.#at >= 0;
  }

  /* Show or hide the strip; what the person chose is kept in this browser. */
  async toggle(open = this.strip.hidden) {
    if (!open && this.looking) await this.#after(() => this.#go(-1));
    this.#open(open);
    keep(this.#store, open ? "open" : "closed");
    if (!open) return;
    await Promise.all([this.#load(), this.#page.lookback.showSession()]);
    this.strip.scrollIntoView({ block: "end" }); // on a phone it is at the end of the page
  }

  /* One item further back (1) or forward (-1), after the steps that were asked for before. */
  /** @param {number} by */
  step(by) {
    return this.#after(() => this.#step(by));
  }

  /* A step that fails does not stop those behind it. */
  /** @param {() => unknown} act */
  #after(act) {
    this.#stepping += 1;
    const step = this.#steps.then(act).finally(() => { this.#stepping -= 1; });
    this.#steps = step.catch(() => {});
    return step;
  }

  /* An item of the list, which may be asked for anew at the moment. */
  /** @param {string} id */
  async #choose(id) {
    await this.#load();
    const at = this.#items?.findIndex((item) => item.id === id) ?? -1;
    if (at >= 0) await this.#go(at);
  }

  /** @param {number} by */
  async #step(by) {
    if (!this.looking && by < 0) return;
    if (this.#at + by < 0) {
      await this.#go(-1); // which needs no list: it may have changed since
      return;
    }
    await this.#load(true);
    if (!this.#items) return;
    if (!this.#items.length) {
      this.#open(true);
      this.#say(t("You have not submitted an item in this batch yet."));
      return;
    }
    const at = Math.min(this.#at + by, this.#items.length - 1);
    if (at !== this.#at) await this.#go(at);
  }

  /* Something was submitted, skipped or withdrawn: an open strip shows it. */
  changed() {
    this.#items = null;
    this.#changes += 1;
    this.#asking = null; // what is on its way was asked before
    if (!this.strip.hidden) this.#load();
  }

  /** @param {number} at */
  async #go(at) {
    if (at < 0) {
      this.#at = -1;
      this.#mark();
      this.comeBack();
      if (!this.#leftOpen) this.#open(false);
      return;
    }
    try {
      const item = await send("GET", `${this.#page.dataset.api}assignments/${this.#items?.[at].id}/response/`);
      if (!(await this.lookBack(item))) return;
      this.#at = at;
      this.#open(true);
      this.#mark(item);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.#open(true);
      this.#say(problem.message);
    }
  }

  async #reopen() {
    const { annotation, can_change: can } = this.#items?.[this.#at] ?? {};
    if (!can) return;
    const problem = await this.reopen(/** @type {string} */ (annotation));
    if (problem) return this.#say(problem.message);
    this.#at = -1;
    this.#mark();
    this.changed();
    if (!this.#leftOpen) this.#open(false);
  }

  /* Show an earlier item of this person in place of the current one, to be read. Resolves to whether it is shown. */
  /** @param {EarlierItem} item */
  async lookBack(item) {
    const page = this.#page;
    let shown = false;
    await page.guard(async () => {
      if (!page.lookback.home) {
        if (page.changing) page.changed();
        await page.item.flush();
        page.lookback.home = page.current;
        page.item.close();
      }
      page.show(asPast(item, page.lookback.home), { said: t`Submitted ${clock(item.ended_at)}` });
      this.#readOnly(true);
      shown = true;
    });
    return shown;
  }

  /* Go on with the current item, with what was entered in it. */
  comeBack() {
    if (!this.#page.lookback.home) return;
    this.#page.show(this.#leave(), { isBack: true });
    this.#page.saving.carryOut();
  }

  /* Withdraw an earlier submission and open its item. Resolves to the problem if it is refused, else null. */
  /** @param {string} annotation @returns {Promise<Problem | null>} */
  async reopen(annotation) {
    const page = this.#page;
    let refused = null;
    await page.guard(async () => {
      const assignment = await send("POST", `${page.dataset.api}annotations/${annotation}/undo/`, {});
      page.submission.done = page.submission.done.filter((id) => id !== annotation);
      remember(page.submission.store(), page.submission.done);
      page.item.hear({ type: "shelve", assignment: this.#leave() });
      page.show(assignment, { said: t("Response withdrawn.") });
      page.status.notice(t("Change your response and submit it again."), "note");
    }, (problem) => {
      refused = problem;
      return true;
    });
    return refused;
  }

  #leave() {
    const page = this.#page;
    const home = /** @type {ItemAssignment} */ (page.lookback.home);
    page.lookback.home = null;
    this.#readOnly(false);
    page.current = { ...page.current, guidelines: home.guidelines };
    return home;
  }

  /** @param {boolean} on */
  #readOnly(on) {
    this.#page.toggleAttribute("data-looking-back", on);
    for (const part of [...this.#page.panel.children, ...this.#page.bar.children]) /** @type {HTMLElement} */ (part).inert = on;
  }

  /* Which item is shown, when it was submitted, and what can be done about it. */
  /** @param {PastItem | null} item */
  #mark(item = null) {
    this.list.querySelectorAll("button").forEach((line, index) => { line.ariaCurrent = index === this.#at ? "true" : null; });
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.strip.toggleAttribute("data-looking", this.looking);
    if (!item) return this.#say("");
    this.change.hidden = !item.can_change;
    const answer = [item.words.join(" "), item.unsure ? t("Not sure.") : ""].filter(Boolean).join(" ");
    this.#say(t`${this.#at + 1} of your last ${this.list.children.length}. Your response: ${answer} ${item.note}`);
    this.strip.scrollIntoView({ block: "end" }); // with its words, which may need several lines
  }

  /** @param {string} words */
  #say(words) {
    this.words.textContent = words;
  }

  /** @param {boolean} open */
  #open(open) {
    this.strip.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
  }

  /* The items, asked for where they are not here yet; one request at a time. */
  #load(quiet = false) {
    if (this.#items) return null;
    const asking = this.#asking ??= this.#ask(quiet).finally(() => { if (asking === this.#asking) this.#asking = null; });
    return asking;
  }

  /** @param {boolean} quiet */
  async #ask(quiet) {
    const changes = this.#changes;
    try {
      const { items } = await send("GET", this.#url);
      if (changes !== this.#changes) return; // it was asked for again
      this.#items = items;
      this.#draw();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (quiet) this.#open(true);
      this.#say(problem.message);
    }
  }

  #draw() {
    this.list.replaceChildren(...(this.#items ?? []).map(({ id, question, summary, unsure }) => element("li", {}, element(
      "button", { type: "button", className: "quiet small", title: question, dataset: { item: id } },
      element("span", { textContent: summary || t("No response"), dir: "auto" }),
      ...(unsure ? [element("span", { className: "unsure", textContent: t("not sure") })] : []),
    ))));
    this.#say(this.#items?.length ? "" : t("You have not submitted an item in this batch yet."));
  }

  get #leftOpen() {
    return isKeptOpen(this.#store);
  }

  /** @param {KeyPress} event */
  #onKey(event) {
    if (event.key === "Escape" && !this.looking && !this.strip.hidden && !this.#leftOpen) this.#open(false);
    if (!(this.looking || this.#stepping) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (this.#acts(event)) event.preventDefault();
    else if (PASSED_ON.has(event.key) || (event.key === "Enter" && event.target.closest("a, button, summary"))) return;
    event.stopImmediatePropagation();
  }

  /** @param {KeyPress} event */
  #acts({ key, target, repeat }) {
    const name = this.#page.keys.nameOf(key);
    if (key === "Escape") this.#after(() => this.#go(-1));
    else if (name === "back") this.step(1);
    else if (name === "forward") this.step(-1);
    else if (name === "help") this.#page.keys.help();
    else if (name === "submit" && !target.closest("a, button, summary")) return repeat || Boolean(this.#after(() => this.#reopen()));
    else return false;
    return true;
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
