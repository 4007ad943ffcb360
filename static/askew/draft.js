/* Keeps what a person enters: at once in this browser, 300 ms after the last key on the server.

   One Draft serves one page; `open` starts it on an assignment. A copy in localStorage is written with every change
   and counts until the server has confirmed the same content, so neither a dead server nor a closed lid loses a key. It
   then stays for a minute: a page that the server made just before, and that is shown just after, knows of no draft.
   The page hears of everything through the handlers: saving(), saved(reply), failing(problem, seconds),
   refused(problem), stale(draft of the server). Where `refused` is true the page works on it: nothing is sent before
   `resume` or `rebase`, and changes are kept in this browser. */

import { Problem, send } from "./api.js";

const PAUSE = 300; // ms after the last key
const BACK_OFF = [1, 2, 4, 8, 15, 30]; // seconds
const UNHEARD = 20; // digests remembered
const KEPT = 30; // days that a forgotten copy stays in this browser
const OVERTAKEN = 60_000; // ms that a page may be older than the draft saved last
const PREFIX = "askew:draft:";
const KEEPALIVE_LIMIT = 60_000; // bytes a browser lets a request carry after its page has gone
const onPage = new Map(); // id -> copy, where the browser stores none

export class Draft {
  #url = "";
  #id = null;
  #revision = 0;
  #wanted = null;
  #confirmed = null;
  #timer = null;
  #flight = null;
  #check = null; // a request that saves nothing, but that nothing may overtake
  #failures = 0;
  #stopped = true;
  #settled = false; // while a submission is on its way
  #unheard = []; // digests of responses that were sent without an answer yet: the server may have any of them

  constructor(handlers) {
    this.handlers = handlers;
    addEventListener("online", () => this.#failures && this.flush());
    addEventListener("pagehide", () => this.#leave());
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.#leave());
    sweep();
  }

  get revision() {
    return this.#revision;
  }

  get unsaved() {
    return this.#wanted !== null && !same(this.#wanted, this.#confirmed);
  }

  /* Begin with what the server holds: its revision (0 without a draft) and response (or null). `unheard` are digests of
     responses that this browser sent before, whose answer no page has heard. */
  open(id, url, revision, response, unheard = []) {
    this.close();
    this.#id = id;
    this.#url = url;
    this.#revision = revision;
    this.#confirmed = response;
    this.#wanted = null;
    this.#failures = 0;
    this.#stopped = false;
    this.#settled = false;
    this.#unheard = unheard;
  }

  /* Called with the whole response at every change. */
  change(response) {
    if (this.#stopped) return;
    this.#wanted = response;
    this.#keepCopy();
    if (this.#failures || this.#settled) return; // the next try is planned and will take the newest
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), PAUSE);
  }

  /* Save now what is not saved. Resolves to true when the server has everything. */
  async flush() {
    clearTimeout(this.#timer);
    while (this.#flight ?? this.#check) await (this.#flight ?? this.#check);
    if (this.#stopped || this.#settled || !this.unsaved) return !this.unsaved;
    this.#flight = this.#put(this.#id, this.#wanted);
    try {
      await this.#flight;
    } finally {
      this.#flight = null;
    }
    if (!this.#failures && !this.#stopped && this.unsaved) this.change(this.#wanted);
    return !this.unsaved;
  }

  /* What the server has to say of the draft it holds: the request that made that draft, sent once more, changes nothing
     there, and is refused where the draft is another one by now. Saving and submitting wait for it: sent beside it, they
     would be the reason of a refusal. Resolves to the answer, or to null where there is none; the next save then tells. */
  async check(response) {
    const asked = send("PUT", this.#url, { revision: this.#revision - 1, response }).catch((problem) => {
      if (!(problem instanceof Problem)) throw problem;
      return null;
    });
    this.#check = asked;
    try {
      return await asked;
    } finally {
      if (this.#check === asked) this.#check = null;
    }
  }

  /* Wait for a request that is under way, so that nothing overtakes it. Until `resume` or `open`, no further one is sent:
     it would meet an item that is submitted already. */
  async settle() {
    clearTimeout(this.#timer);
    this.#settled = true;
    await Promise.race([Promise.all([this.#flight, this.#check]), new Promise((resolve) => setTimeout(resolve, 3000))]);
  }

  /* The item stays after all: go on saving. */
  resume() {
    this.#settled = false;
    if (!this.#stopped && this.unsaved) this.#timer = setTimeout(() => this.flush(), PAUSE);
  }

  /* Go on from the server's newer draft: with what is here (`response`) or, without it, with the server's. */
  rebase(draft, response = null) {
    this.#revision = draft.revision;
    this.#confirmed = draft.response;
    this.#stopped = false;
    this.#settled = false;
    this.#failures = 0;
    this.#wanted = null; // what was turned down is not sent when the page is left
    if (response) this.change(response);
    else this.forget();
  }

  close() {
    clearTimeout(this.#timer);
    this.#stopped = true;
  }

  /* The assignment is done: its copy in this browser goes. */
  forget(id = this.#id) {
    onPage.delete(id);
    try {
      localStorage.removeItem(PREFIX + id);
    } catch { /* a browser that stores nothing has nothing to forget */ }
  }

  async #put(id, response) {
    this.handlers.saving();
    this.#expectAnswer(response);
    try {
      const reply = await send("PUT", this.#url, { revision: this.#revision, response }, { part: "revision" });
      if (id !== this.#id) return;
      this.#failures = 0;
      this.#revision = reply.revision;
      this.#confirmed = response;
      this.#unheard = [];
      this.#keepCopy(same(this.#wanted, response));
      this.handlers.saved(reply, response);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      if (id === this.#id) this.#failed(problem);
    }
  }

  #failed(problem) {
    const newer = problem.code === "stale_draft" ? problem.body.draft : null;
    if (newer && same(newer.response, this.#wanted)) { // our own last request, whose answer never arrived
      this.rebase(newer);
      this.handlers.saved({ ...newer, violations: null }, newer.response);
    } else if (newer && this.#unheard.includes(digest(newer.response))) { // an earlier one of ours
      this.rebase(newer, this.#wanted);
    } else if (newer) {
      this.#stopped = true;
      this.handlers.stale(newer);
    } else if (problem.code === "stale_draft" && this.#revision) { // the server has no draft any more
      this.#revision = 0;
      this.resume();
    } else if (problem.passing) {
      const seconds = waitAfter(this.#failures);
      this.#failures += 1;
      this.#timer = setTimeout(() => this.flush(), seconds * 1000);
      this.handlers.failing(problem, seconds);
    } else {
      if (this.handlers.refused(problem)) this.#settled = true;
      else if (problem.status === 409) this.#stopped = true;
    }
  }

  /* The page may be gone in a moment: one last request that may outlive it. The copy stays until confirmed. */
  #leave() {
    if (this.#stopped || this.#flight || !this.unsaved) return;
    const body = { revision: this.#revision, response: this.#wanted };
    const keepalive = JSON.stringify(body).length < KEEPALIVE_LIMIT;
    this.#expectAnswer(this.#wanted);
    if (document.visibilityState === "hidden") this.flush();
    else send("PUT", this.#url, body, { keepalive }).catch(() => {});
  }

  #expectAnswer(response) {
    this.#unheard = [...this.#unheard.slice(1 - UNHEARD), digest(response)];
    this.#keepCopy();
  }

  #keepCopy(saved = false) {
    keep(this.#id, { revision: this.#revision, response: this.#wanted, at: Date.now(), unheard: this.#unheard, saved });
  }
}

/* In practice nothing is kept: the same interface, and nothing behind it. */
export class NoDraft {
  revision = 0;
  unsaved = false;

  open() {}
  change() {}
  async flush() { return true; }
  async settle() {}
  resume() {}
  rebase() {}
  close() {}
  forget() {}
}

/* A response that goes with a form: it is kept in this browser alone. */
export class LocalDraft extends NoDraft {
  #id = null;
  #revision = 0;

  open(id, url, revision) {
    this.#id = id;
    this.#revision = revision;
  }

  change(response) {
    keep(this.#id, { revision: this.#revision, response, at: Date.now(), unheard: [] });
  }
}

function keep(id, copy) {
  try {
    localStorage.setItem(PREFIX + id, JSON.stringify(copy));
    onPage.delete(id);
  } catch { // full or forbidden: until the page is left, it is on the page alone
    onPage.set(id, copy);
  }
}

/* The copy that this browser kept of an assignment's response, or null. `saved`: the server has it as this revision. */
export function copyOf(id) {
  try {
    const copy = onPage.get(id) ?? JSON.parse(localStorage.getItem(PREFIX + id));
    return copy?.saved && Date.now() - copy.at > OVERTAKEN ? null : copy;
  } catch {
    return null;
  }
}

/* Seconds from a failed try to the next one, by the number of failures before it. */
export const waitAfter = (failures) => BACK_OFF[Math.min(failures, BACK_OFF.length - 1)];

function sweep() {
  try {
    for (const key of Object.keys(localStorage)) {
      if (!key.startsWith(PREFIX)) continue;
      const { at } = JSON.parse(localStorage.getItem(key)) ?? {};
      if (!(Date.now() - at < KEPT * 86_400_000)) localStorage.removeItem(key);
    }
  } catch { /* as above */ }
}

/* Equal as JSON, whatever the order of keys: a database may sort them. */
export function same(one, other) {
  return sorted(one) === sorted(other);
}

/* A number that tells responses apart, whatever the order of keys: two hashes of 26 bits in one. */
export function digest(value) {
  let [one, other] = [0x811c9dc5, 0x01000193];
  for (const letter of sorted(value)) {
    const code = letter.codePointAt(0);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x5bd1e995) + one | 0;
  }
  return (one >>> 6) * 2 ** 26 + (other >>> 6);
}

function sorted(value) {
  return JSON.stringify(value, (_, part) => (
    part && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part
  ));
}
