/* The item on the annotation page: carries out what item-state.js decides.

   The page hears of everything through `page.tell[what](details)`. It also has the requests that end an item, which take
   what it knows: `end(action, id, body)`, `withdraw(id)` (resolves to the draft) and `fetchNext(id)`; `urlOf(id, action)`;
   and `redraw()`, called after every event. */

import { Problem, send } from "./api.js";
import { forget, keep, sweep } from "./draft.js";
import { START, isBusy, isLost, isUnsaved, transition } from "./item-state.js";

const KEEPALIVE_LIMIT = 60_000; // bytes a browser lets a request carry after its page has gone

/**
 * @typedef {import("./item-state.js").Effect} Effect
 * @typedef {import("./item-state.js").Event} Event
 * @typedef {object} PageOfItem
 * @property {Record<string, (details: any) => void>} tell
 * @property {(action: string, id: string, body: object) => Promise<any>} end
 * @property {(id: string) => Promise<DraftReply>} withdraw
 * @property {(id: string) => Promise<Assignment | null>} fetchNext
 * @property {(id: string, action: string) => string} urlOf
 * @property {() => void} redraw
 */

export class Item {
  #page;
  /** @type {Readonly<import("./item-state.js").State>} */
  #state = START;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Effect[]} */
  #effects = []; // still to be carried out
  #isActing = false;
  /** @type {(() => void)[]} */
  #waiting = []; // called when no draft is on its way

  /** @param {PageOfItem} page */
  constructor(page) {
    this.#page = page;
    addEventListener("pagehide", () => this.#leavePage());
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.#leavePage());
    sweep();
  }

  get isUnsaved() {
    return isUnsaved(this.#state);
  }

  /* Whether it is being submitted, skipped or withdrawn. */
  get isBusy() {
    return isBusy(this.#state);
  }

  get isLost() {
    return isLost(this.#state);
  }

  /* Whether its submission waits for the server. */
  get isWished() {
    return this.#state.wish !== null;
  }

  /** @param {Event} event  see item-state.js */
  hear(event) {
    const { state, effects } = transition(this.#state, event);
    this.#state = state;
    this.#effects.push(...effects);
    if (this.#isActing) return; // what an effect brings about follows those before it
    this.#isActing = true;
    try {
      for (let effect; (effect = this.#effects.shift());) this.#act(effect);
    } finally {
      this.#isActing = false;
    }
    const { sent, checking, again } = this.#state;
    if (!sent && checking === null && !again) for (const resume of this.#waiting.splice(0)) resume();
    this.#page.redraw();
  }

  /** @param {ResponseBody} response  whole, at every change */
  change(response) {
    this.hear({ type: "change", response });
  }

  /** Save now what is not saved. Resolves to true when the server has everything. */
  async flush() {
    const isQuiet = new Promise((resolve) => this.#waiting.push(() => resolve(true)));
    this.hear({ type: "due" });
    await isQuiet;
    return !this.isUnsaved;
  }

  /**
   * What the server has to say of the draft it holds: the request that made that draft, sent once more, changes nothing
   * there, and is refused where the draft is another one by now. Saving and submitting wait for it: sent beside it, they
   * would be the reason of a refusal. Resolves to the answer, or to null where there is none; the next save then tells.
   * @param {ResponseBody} response
   */
  check(response) {
    return new Promise((resolve, reject) => {
      this.#checks = { resolve, reject };
      this.hear({ type: "check", response });
    });
  }

  /** @type {{resolve: (reply: any) => void, reject: (reason: unknown) => void} | null} */
  #checks = null;

  close() {
    this.hear({ type: "close" });
  }

  /* Do what waits for the server. */
  retry() {
    this.hear({ type: "retry" });
  }

  /** @param {Effect} effect */
  #act(effect) {
    const { request, id, revision, response } = effect;
    switch (effect.do) {
      case "rest": return clearTimeout(this.#timer);
      case "wait":
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.hear({ type: effect.next }), effect.ms);
        return;
      case "keep": return keep(id, { ...effect.copy, at: Date.now() });
      case "forget": return forget(id);
      case "put":
        return this.#answer(send("PUT", this.#page.urlOf(id, "draft"), { revision, response }, { part: "revision" }),
          (reply) => ({ type: "saved", request, reply }), (problem) => ({ type: "saveFailed", request, problem }));
      case "lastPut": return this.#putLast(id, { revision, response });
      case "check": return this.#check(effect);
      case "end":
        return this.#answer(this.#page.end(effect.action, id, effect.body),
          (reply) => ({ type: "ended", request, reply }), (problem) => ({ type: "endFailed", request, problem }));
      case "withdraw":
        return this.#answer(this.#page.withdraw(id),
          (draft) => ({ type: "withdrawn", request, draft }), (problem) => ({ type: "withdrawFailed", request, problem }));
      case "fetch":
        return this.#answer(this.#page.fetchNext(id),
          (assignment) => ({ type: "fetched", request, assignment }), () => ({ type: "fetched", request, assignment: null }));
      default: return this.#page.tell[effect.what](effect);
    }
  }

  /**
   * @param {Promise<any>} reply
   * @param {(reply: any) => Event} answered
   * @param {(problem: Problem) => Event} failed
   */
  #answer(reply, answered, failed) {
    reply.then(answered, (problem) => {
      if (!(problem instanceof Problem)) throw problem;
      return failed(problem);
    }).then((event) => this.hear(event));
  }

  /** @param {Effect} effect */
  #check({ request, id, revision, response }) {
    const { resolve = () => {}, reject = () => {} } = this.#checks ?? {};
    send("PUT", this.#page.urlOf(id, "draft"), { revision, response }).catch((problem) => {
      if (!(problem instanceof Problem)) throw problem;
      return null;
    }).finally(() => this.hear({ type: "checked", request })).then(resolve, reject);
  }

  #leavePage() {
    this.hear({ type: document.visibilityState === "hidden" ? "due" : "leavePage" });
  }

  /** @param {string} id @param {object} body */
  #putLast(id, body) {
    const keepalive = JSON.stringify(body).length < KEEPALIVE_LIMIT;
    send("PUT", this.#page.urlOf(id, "draft"), body, { keepalive }).catch(() => {});
  }
}

/* In practice nothing is stored: the same interface, and nothing behind it. */
export class PracticeItem {
  isUnsaved = false;
  isBusy = false;
  isLost = false;
  isWished = false;

  /** @param {Event} _ */
  hear(_) {}
  /** @param {ResponseBody} _ */
  change(_) {}
  async flush() { return true; }
  /** @param {ResponseBody} _ @returns {Promise<any>} */
  async check(_) { return null; }
  close() {}
  retry() {}
}

/* A response that goes with a form: it is stored in this browser alone. */
export class FormItem extends PracticeItem {
  #id = "";
  #revision = 0;

  /** @param {Event} event */
  hear({ type, id, revision }) {
    if (type === "open") [this.#id, this.#revision] = [id, revision];
  }

  /** @param {ResponseBody} response */
  change(response) {
    keep(this.#id, { revision: this.#revision, response, at: Date.now(), unheard: [] });
  }
}
