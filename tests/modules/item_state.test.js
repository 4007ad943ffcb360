/* The life of an item (item-state.js): every transition, and walks over delayed, lost, repeated and reordered replies. */

import assert from "node:assert/strict";
import { test } from "node:test";

const { START, isBusy, isLost, isUnsaved, transition } = await import("/static/askew/item-state.js");
const { same } = await import("/static/askew/draft.js");

const response = (item, text) => ({ type: "t", variant: "", version: 1, base: "b", data: { item, text } });
const problem = (code, status = 409, body = {}) => ({ code, status, message: code, passing: status === 0, signedOut: false, body });
const GONE = problem("", 0);

/* The state after events, and the effects of the last one. A function makes an event of the state before it. */
function after(...events) {
  let [state, effects] = [START, []];
  for (const event of events) ({ state, effects } = transition(state, typeof event === "function" ? event(state) : event));
  return { state, effects, tells: effects.filter((effect) => effect.do === "tell").map(({ what }) => what), does: effects.map((effect) => effect.do) };
}

const A = response("a", "first");
const B = response("a", "second");
const OPEN = { type: "open", id: "a", revision: 0, stored: null };
const change = (entered) => ({ type: "change", response: entered });
const DUE = { type: "due" };
const saved = (revision = 1) => ({ sent }) => ({ type: "saved", request: sent.request, reply: { revision } });
const saveFailed = (reason) => ({ sent }) => ({ type: "saveFailed", request: sent.request, problem: reason });
const submit = (entered) => ({ type: "submit", response: entered, confirmed: [] });
const SKIP = { type: "skip", reason: "unclear" };
const ended = (reply = { annotation: { id: "x" } }) => ({ ending }) => ({ type: "ended", request: ending.request, reply });
const endFailed = (reason) => ({ ending }) => ({ type: "endFailed", request: ending.request, problem: reason });
const withdrawn = (draft) => ({ withdrawal }) => ({ type: "withdrawn", request: withdrawal, draft });
const withdrawFailed = (reason) => ({ withdrawal }) => ({ type: "withdrawFailed", request: withdrawal, problem: reason });
const stale = (revision, entered) => problem("stale_draft", 409, { draft: { revision, response: entered, saved_at: "" } });
const TAKEN = problem("already_submitted");
const LOST_ANSWER = [OPEN, change(A), submit(A), endFailed(GONE)];

/* name: [events, stage, what is done or told by the last event] */
const TRANSITIONS = {
  "an item that is opened is loaded": [[OPEN], "open", ["rest"]],
  "what is entered is kept at once and saved in a moment": [[OPEN, change(A)], "open", ["keep", "wait"]],
  "the moment over, the draft is sent": [[OPEN, change(A), DUE], "open", ["keep", "rest", "saving", "put"]],
  "nothing is sent twice": [[OPEN, change(A), DUE, DUE], "open", []],
  "nothing is sent without a change": [[OPEN, DUE], "open", []],
  "a saved draft is told": [[OPEN, change(A), DUE, saved()], "open", ["keep", "saved"]],
  "what was entered meanwhile is saved in a moment": [[OPEN, change(A), DUE, change(B), saved()], "open", ["keep", "saved", "wait"]],
  "what was due meanwhile is sent at once": [[OPEN, change(A), DUE, change(B), DUE, saved()], "open", ["keep", "saved", "keep", "rest", "saving", "put"]],
  "what was due meanwhile and is saved already is not sent again": [[OPEN, change(A), DUE, DUE, saved(), DUE], "open", []],
  "a reply to an earlier request changes nothing": [[OPEN, change(A), DUE, saved(), { type: "saved", request: 1, reply: { revision: 9 } }], "open", []],
  "a failure of an earlier request changes nothing": [[OPEN, change(A), DUE, saved(), { type: "saveFailed", request: 1, problem: GONE }], "open", []],
  "a draft without an answer is sent again later": [[OPEN, change(A), DUE, saveFailed(GONE)], "open", ["wait", "failing"]],
  "the next try takes what is entered meanwhile": [[OPEN, change(A), DUE, saveFailed(GONE), change(B)], "open", ["keep"]],
  "a draft whose answer was lost is known again": [[OPEN, change(A), DUE, saveFailed(GONE), DUE, saveFailed(stale(1, A))], "open", ["forget", "saved"]],
  "an earlier one of ours is gone on from": [[OPEN, change(A), DUE, saveFailed(GONE), change(B), DUE, saveFailed(stale(1, A))], "open", ["keep", "wait"]],
  "the draft of another window is a conflict": [[OPEN, change(A), DUE, saveFailed(stale(3, B))], "conflicting", ["rest", "stale"]],
  "a conflict keeps changes in this browser": [[OPEN, change(A), DUE, saveFailed(stale(3, B)), change(B)], "conflicting", ["keep"]],
  "a conflict is decided for what is here": [[OPEN, change(A), DUE, saveFailed(stale(3, B)), { type: "rebase", draft: { revision: 3, response: B }, response: A }], "open", ["keep", "wait"]],
  "a conflict is decided for the other draft": [[OPEN, change(A), DUE, saveFailed(stale(3, B)), { type: "rebase", draft: { revision: 3, response: B } }], "open", ["forget"]],
  "a draft that the server has lost is sent anew": [[{ ...OPEN, revision: 2, stored: A }, change(B), DUE, saveFailed(problem("stale_draft"))], "open", ["wait"]],
  "a refused draft is told": [[OPEN, change(A), DUE, saveFailed(problem("too_large", 413))], "open", ["refused"]],
  "a draft refused for good is kept in this browser": [[OPEN, change(A), DUE, saveFailed(problem("no_member")), change(B)], "open", ["keep"]],
  "a draft of a slot that is gone is told": [[OPEN, change(A), DUE, saveFailed(problem("place_taken"))], "refused", ["lost"]],
  "what is entered in a lost slot is kept in this browser": [[OPEN, change(A), DUE, saveFailed(problem("place_taken")), change(B)], "refused", ["keep"]],
  "a sign of life tells that the slot is gone": [[OPEN, change(A), { type: "lose", problem: problem("place_taken") }], "losing", ["lost"]],
  "a lost slot saves once more": [[OPEN, change(A), { type: "lose", problem: problem("place_taken") }, DUE], "losing", ["keep", "rest", "saving", "put"]],
  "a lost slot is refused once that is saved": [[OPEN, change(A), { type: "lose", problem: problem("place_taken") }, DUE, saved()], "refused", ["keep", "saved"]],
  "a lost slot is refused when that fails": [[OPEN, change(A), { type: "lose", problem: problem("place_taken") }, DUE, saveFailed(GONE)], "refused", []],
  "a lost slot is refused when that is refused": [[OPEN, change(A), { type: "lose", problem: problem("place_taken") }, DUE, saveFailed(TAKEN)], "refused", []],
  "a lost slot with nothing to save is refused": [[OPEN, { type: "lose", problem: problem("place_taken") }, DUE], "refused", []],
  "a response is submitted": [[OPEN, change(A), submit(A)], "submitting", ["ending", "rest", "end"]],
  "a second key submits nothing": [[OPEN, change(A), submit(A), submit(A)], "submitting", []],
  "a submission waits for the draft on its way": [[OPEN, change(A), DUE, submit(A)], "submitting", ["ending", "wait"]],
  "the draft saved, it is sent": [[OPEN, change(A), DUE, submit(A), saved()], "submitting", ["keep", "saved", "end"]],
  "the draft failed, it is sent": [[OPEN, change(A), DUE, submit(A), saveFailed(GONE)], "submitting", ["end"]],
  "it waits for no draft for ever": [[OPEN, change(A), DUE, submit(A), { type: "waited" }], "submitting", ["end"]],
  "a draft that answers later tells nothing of the submission": [[OPEN, change(A), DUE, submit(A), { type: "waited" }, saveFailed(TAKEN)], "submitting", []],
  "a submission waits for the item that is fetched ahead": [[OPEN, { type: "fetchAhead" }, submit(A)], "submitting", ["keep", "ending", "rest"]],
  "the item there, it is sent": [[OPEN, { type: "fetchAhead" }, submit(A), { type: "fetched", request: 1, assignment: { id: "b" } }], "submitting", ["end"]],
  "a submission waits for a check": [[{ ...OPEN, revision: 1, stored: A }, { type: "check", response: A }, submit(A)], "submitting", ["ending", "wait"]],
  "the check over, it is sent": [[{ ...OPEN, revision: 1, stored: A }, { type: "check", response: A }, submit(A), { type: "checked", request: 1 }], "submitting", ["end"]],
  "a conflict stops a submission that waits": [[OPEN, change(A), DUE, submit(A), saveFailed(stale(3, B))], "conflicting", ["rest", "stale"]],
  "an answered submission is done": [[OPEN, change(A), submit(A), ended()], "submitted", ["rest", "forget", "ended"]],
  "an answer that is repeated changes nothing": [[OPEN, change(A), submit(A), ended(), { type: "ended", request: 1, reply: {} }], "submitted", []],
  "what is submitted takes no changes": [[OPEN, change(A), submit(A), ended(), change(B)], "submitted", []],
  "a submission without an answer is wished": [LOST_ANSWER, "open", ["waiting", "wait"]],
  "a wish is carried out again": [[...LOST_ANSWER, { type: "retry" }], "submitting", ["ending", "rest", "end"]],
  "a change gives a wish up": [[...LOST_ANSWER, change(B)], "open", ["givenUp", "keep", "wait"]],
  "the server that saves a draft again hears of the wish": [[...LOST_ANSWER, DUE, saved()], "open", ["keep", "saved", "answering"]],
  "a draft says that the wish has arrived": [[...LOST_ANSWER, DUE, saveFailed(TAKEN)], "open", ["answering"]],
  "a failing draft says nothing beside a wish": [[...LOST_ANSWER, DUE, saveFailed(GONE)], "open", ["wait"]],
  "a refused submission is told": [[OPEN, change(A), submit(A), endFailed(problem("invalid_response", 422))], "open", ["notEnded", "wait"]],
  "a refused submission without a slot is told": [[OPEN, change(A), submit(A), endFailed(problem("batch_closed"))], "losing", ["lost"]],
  "a refused wish is given up": [[...LOST_ANSWER, { type: "retry" }, endFailed(problem("invalid_response", 422))], "open", ["givenUp", "notEnded", "wait"]],
  "what had arrived is withdrawn for a later response": [[...LOST_ANSWER, submit(B), endFailed(TAKEN)], "withdrawing", ["rest", "withdraw"]],
  "a later draft withdraws it, too": [[...LOST_ANSWER, change(B), DUE, saveFailed(TAKEN)], "withdrawing", ["rest", "withdraw"]],
  "then the later draft is saved": [[...LOST_ANSWER, change(B), DUE, saveFailed(TAKEN), withdrawn({ revision: 2, response: A })], "open", ["keep", "withdrawn", "wait"]],
  "then the later response is submitted": [[...LOST_ANSWER, submit(B), endFailed(TAKEN), withdrawn({ revision: 2, response: A })], "submitting", ["keep", "withdrawn", "ending", "rest", "end"]],
  "a skip withdraws it": [[...LOST_ANSWER, SKIP, endFailed(TAKEN)], "withdrawing", ["rest", "withdraw"]],
  "a withdrawal without an answer is tried later": [[...LOST_ANSWER, SKIP, endFailed(TAKEN), withdrawFailed(GONE)], "withdrawing", ["failing"]],
  "and then again": [[...LOST_ANSWER, SKIP, endFailed(TAKEN), withdrawFailed(GONE), { type: "retry" }], "withdrawing", ["rest", "withdraw"]],
  "what is entered meanwhile is kept": [[...LOST_ANSWER, submit(B), endFailed(TAKEN), withdrawFailed(GONE), change(A)], "withdrawing", ["keep"]],
  "what is submitted meanwhile follows the withdrawal": [[...LOST_ANSWER, SKIP, endFailed(TAKEN), withdrawFailed(GONE), submit(B)], "withdrawing", ["keep", "ending", "rest", "withdraw"]],
  "a withdrawal that comes too late is told": [[...LOST_ANSWER, submit(B), endFailed(TAKEN), withdrawFailed(problem("decided"))], "refused", ["lost"]],
  "a refused withdrawal is told": [[...LOST_ANSWER, submit(B), endFailed(TAKEN), withdrawFailed(problem("", 404))], "open", ["notEnded", "wait"]],
  "a late reply to a withdrawal changes nothing": [[...LOST_ANSWER, { type: "withdrawn", request: 1, draft: { revision: 1, response: A } }], "open", []],
  "an item is skipped": [[OPEN, SKIP], "submitting", ["ending", "rest", "end"]],
  "a skip without an answer is told": [[OPEN, SKIP, endFailed(GONE)], "open", ["notEnded"]],
  "an item that is left is closed": [[OPEN, change(A), { type: "close" }], "closed", ["rest"]],
  "a closed item takes no changes": [[OPEN, { type: "close" }, change(A)], "closed", []],
  "a page that is left sends the draft": [[OPEN, change(A), { type: "leavePage" }], "open", ["keep", "lastPut"]],
  "a page that is left with nothing unsaved sends nothing": [[OPEN, { type: "leavePage" }], "open", []],
  "an item is fetched ahead": [[OPEN, { type: "fetchAhead" }], "open", ["fetch"]],
  "one is enough": [[OPEN, { type: "fetchAhead" }, { type: "fetchAhead" }], "open", []],
  "the next item is the one fetched ahead": [[OPEN, { type: "fetchAhead" }, { type: "fetched", request: 1, assignment: { id: "b" } }, { type: "goOn", next: { id: "c" } }], "open", ["next"]],
};

for (const [name, [events, stage, done]] of Object.entries(TRANSITIONS)) {
  test(name, () => {
    const { state, effects } = after(...events);
    assert.equal(state.stage, stage);
    assert.deepEqual(effects.map((effect) => effect.what ?? effect.do), done);
  });
}

test("the tries of a draft and of a wish wait longer and longer", () => {
  const waits = [];
  let { state } = after(OPEN, change(A), DUE);
  for (let tries = 0; tries < 7; tries += 1) {
    const { effects, state: failed } = transition(state, saveFailed(GONE)(state));
    waits.push(effects.find((effect) => effect.what === "failing").seconds);
    ({ state } = transition(failed, DUE));
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 15, 30, 30]);
});

test("a wish outlives a look at another item, and is given up for the next one", () => {
  const { state } = after(...LOST_ANSWER, { type: "close" }, { ...OPEN, isBack: true });
  assert.deepEqual(state.wish.response, A);
  assert.equal(after(...LOST_ANSWER, { type: "close" }, { ...OPEN, id: "b", isBack: true }).state.wish, null);
});

test("items are shown in the order they were fetched in, each once, and the current one never", () => {
  const fetched = (id) => ({ fetching }) => ({ type: "fetched", request: fetching, assignment: { id } });
  const { state } = after(OPEN, { type: "fetchAhead" }, fetched("a"), { type: "fetchAhead" }, fetched("b"), { type: "shelve", assignment: { id: "z" } });
  assert.deepEqual(state.ahead.map(({ id }) => id), ["z", "b"]);
  const { effects } = transition(state, { type: "goOn", next: { id: "b" } });
  assert.equal(effects[0].assignment.id, "z");
  assert.deepEqual(transition(state, { type: "goOn", next: { id: "b" } }).state.ahead.map(({ id }) => id), ["b"]);
});

// --- walks -----------------------------------------------------------------------------------------------------------

const WALKS = 3000;
const STEPS = 80;
const OTHER = "of another window";

/* Numbers from 0 to 1, the same for each seed. */
function generator(seed) {
  let state = seed;
  return () => {
    state = state + 0x6d2b79f5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, 1 | state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
}

/* The platform: what it stores of each item, and how it answers. */
class Platform {
  items = new Map();
  handed = 0;

  item(id) {
    if (!this.items.has(id)) this.items.set(id, { revision: 0, draft: null, submitted: null, skipped: false, stored: 0, undone: 0 });
    return this.items.get(id);
  }

  next(holding = []) {
    const waiting = [...this.items].find(([id, item]) => !item.submitted && !item.skipped && !holding.includes(id));
    this.handed += 1;
    return { id: waiting?.[0] ?? `item-${this.handed}` };
  }

  put(id, { revision, response: entered }) {
    const item = this.item(id);
    assert.equal(entered.data.item, id, "a draft of another item");
    if (item.submitted) return TAKEN;
    if (item.skipped) return problem("place_taken");
    if (revision !== item.revision) return same(item.draft, entered) && revision === item.revision - 1 ? { revision: item.revision } : stale(item.revision, item.draft);
    Object.assign(item, { revision: revision + 1, draft: entered });
    return { revision: item.revision };
  }

  end(id, action, { response: entered, holding }) {
    const item = this.item(id);
    if (item.skipped) return action === "skip" ? { next: this.next([id, ...holding]) } : problem("place_taken");
    if (action === "skip") {
      if (item.submitted) return TAKEN;
      item.skipped = true;
      return { next: this.next([id, ...holding]) };
    }
    assert.equal(entered.data.item, id, "a submission of another item");
    if (item.submitted && !same(item.submitted, entered)) return TAKEN;
    if (!item.submitted) item.stored += 1;
    item.submitted = entered;
    return { annotation: { id: `of ${id}` }, next: this.next([id, ...holding]) };
  }

  withdraw(id) {
    const item = this.item(id);
    if (!item.submitted) return item.draft ? { revision: item.revision, response: item.draft } : problem("", 404);
    item.undone += 1;
    Object.assign(item, { revision: item.revision + 1, draft: item.submitted, submitted: null });
    return { revision: item.revision, response: item.draft };
  }
}

/* A person at a page, between whom and the platform everything may be late, lost, repeated or out of order. */
class Walk {
  platform = new Platform();
  state = START;
  copies = new Map();
  texts = new Map(); // what the person sees of each item
  wishes = new Map(); // item -> the response that was submitted last, null once something else was chosen
  pressed = new Set(); // responses that were submitted
  ends = new Map(); // item -> how often the page said that it is done
  requests = []; // on their way to the platform
  replies = []; // on their way to the page
  old = []; // replies that were heard
  timer = null;
  seen = new Set();
  typed = 0;

  constructor(seed) {
    this.random = generator(seed);
    this.show({ id: "item-0" });
  }

  get id() {
    return this.state.id;
  }

  chance(share) {
    return this.random() < share;
  }

  hear(event) {
    this.seen.add(`${this.state.stage} ${event.type}`);
    const before = JSON.stringify(this.state);
    const { state, effects } = transition(this.state, event);
    assert.equal(JSON.stringify(this.state), before, "a transition changed the state before it");
    this.state = state;
    for (const effect of effects) this.act(effect);
    this.check();
  }

  act(effect) {
    const { id, request } = effect;
    switch (effect.do) {
      case "rest": this.timer = null; break;
      case "wait": this.timer = { type: effect.next }; break;
      case "keep":
        assert.equal(effect.copy.response.data.item, id, "a copy of another item");
        this.copies.set(id, effect.copy);
        break;
      case "forget": this.copies.delete(id); break;
      case "put": this.send(() => this.platform.put(id, effect), (reply) => ({ type: "saved", request, reply }), "saveFailed", request); break;
      case "lastPut": this.send(() => this.platform.put(id, effect), null); break;
      case "check": this.send(() => null, () => ({ type: "checked", request }), "checked", request); break;
      case "end": this.send(() => this.platform.end(id, effect.action, effect.body), (reply) => ({ type: "ended", request, reply }), "endFailed", request); break;
      case "withdraw": this.send(() => this.platform.withdraw(id), (draft) => ({ type: "withdrawn", request, draft }), "withdrawFailed", request); break;
      case "fetch": this.send(() => this.platform.next([id]), (assignment) => ({ type: "fetched", request, assignment }), "fetched", request); break;
      default: this.hears(effect);
    }
  }

  /* The page is told something. */
  hears({ what, ...details }) {
    if (what === "saved") assert.equal(details.response.data.item, this.id, "another item is called saved");
    if (what === "ended") this.ends.set(this.id, (this.ends.get(this.id) ?? 0) + 1);
    if (what === "ended") this.later = () => this.hear({ type: "goOn", next: details.reply.next });
    if (what === "next") this.later = () => this.show(details.assignment ?? this.platform.next([this.id]));
    if (what === "answering") this.later = () => this.hear({ type: "retry" });
    if (what === "lost") this.wishes.set(this.id, null);
    if (what === "notEnded") this.wishes.set(this.id, null); // the page says so
    if (what === "stale") {
      this.other = details.draft;
      this.wishes.set(this.id, null);
    }
  }

  send(work, answered, failure, request) {
    this.requests.push({ work, answered, failed: failure ? { type: failure, request, problem: GONE, assignment: null } : null, failure });
  }

  /* A request arrives, or is lost; its reply is on its way, or is lost. Never more than the network does. */
  deliver(request, isReliable = false) {
    const { work, answered, failed, failure } = request;
    const isLostBefore = !isReliable && this.chance(0.15);
    const reply = isLostBefore ? null : work();
    if (!answered) return;
    const isAnswered = !isLostBefore && (isReliable || !this.chance(0.2));
    const isProblem = isAnswered && reply?.message !== undefined;
    if (!isAnswered) this.replies.push(failed);
    else if (isProblem) this.replies.push({ ...failed, type: failure, problem: reply });
    else this.replies.push(answered(reply));
    if (!isAnswered && !isLostBefore) this.old.push(answered(reply)); // comes after the page has given it up
  }

  receive(event) {
    this.old.push(event);
    this.hear(event);
  }

  /* A reply for the second time: nothing happens. */
  repeat(event) {
    const pending = this.replies.some(({ request }) => request === event.request) || this.requests.some(({ failed }) => failed?.request === event.request);
    if (pending) return;
    const { state, effects } = transition(this.state, event);
    assert.deepEqual([state, effects], [this.state, []], `a late ${event.type} was heard`);
  }

  show(assignment) {
    const { id } = assignment;
    const { revision, draft } = this.platform.item(id);
    const copy = this.copies.get(id);
    this.hear({ type: "open", id, revision, stored: draft, unheard: copy?.unheard ?? [] });
    if (!this.texts.has(id)) this.texts.set(id, draft?.data.text ?? "");
    if (copy && !copy.saved && !same(copy.response, draft)) this.hear({ type: "change", response: copy.response });
    this.hear({ type: "fetchAhead" });
  }

  get entered() {
    return response(this.id, this.texts.get(this.id));
  }

  /* What a person can do now; while something ends the item, the page takes nothing. */
  press() {
    const { stage } = this.state;
    if (stage === "conflicting") return this.choose();
    if (isBusy(this.state) || !["open", "withdrawing", "refused", "losing"].includes(stage)) return;
    const pick = this.random();
    if (pick < 0.5) {
      this.typed += 1;
      this.texts.set(this.id, `text ${this.typed}`);
      this.wishes.set(this.id, null);
      this.hasChanged = true;
      this.hear({ type: "change", response: this.entered });
    } else if (pick < 0.75) {
      if (isLost(this.state)) return this.hear({ type: "goOn", next: null });
      this.hasChanged = false;
      this.pressed.add(JSON.stringify(this.entered));
      this.wishes.set(this.id, this.entered);
      this.hear({ type: "submit", response: this.entered });
    } else if (pick < 0.8) {
      if (isLost(this.state)) return;
      if (!this.state.wish) this.wishes.set(this.id, null);
      this.hasChanged = false;
      this.hear({ type: "skip", reason: "unclear" });
    } else if (pick < 0.86) this.hear({ type: "due" });
    else if (pick < 0.92) this.hear({ type: "retry" });
    else if (pick < 0.94) this.hear({ type: "leavePage" });
    else if (pick < 0.96 && stage === "open") this.hear({ type: "check", response: this.entered });
    else if (pick < 0.98) this.otherWindow();
    else this.hear({ type: "lose", problem: problem("place_taken") });
  }

  otherWindow() {
    const item = this.platform.item(this.id);
    if (!item.submitted && !item.skipped) Object.assign(item, { revision: item.revision + 1, draft: response(this.id, OTHER) });
  }

  choose() {
    const draft = this.other;
    if (this.chance(0.5)) this.hear({ type: "rebase", draft, response: this.entered });
    else {
      this.texts.set(this.id, draft.response.data.text);
      this.hear({ type: "rebase", draft });
    }
  }

  /* Nothing of what was typed is anywhere but on the screen. */
  check() {
    const { id, stage, entered, again, sent, checking } = this.state;
    assert.ok(!again || sent || checking !== null, "a save is waited for that never comes");
    if (entered) assert.equal(entered.data.item, id, "an answer of another item");
    if (["conflicting", "submitted", "closed"].includes(stage) || this.later) return;
    const text = this.texts.get(id);
    if (!text) return;
    const { draft, submitted } = this.platform.item(id);
    const places = [this.copies.get(id)?.response, draft, submitted].filter(Boolean).map(({ data }) => data.text);
    assert.ok(places.includes(text), `“${text}” is on the page alone`);
  }

  run() {
    for (let step = 0; step < STEPS; step += 1) this.step();
    for (let turn = 0; turn < 400 && this.settle(); turn += 1);
    this.inspect();
  }

  step() {
    if (this.later) return this.goOn();
    const pick = this.random();
    const any = (list) => list.splice(Math.floor(this.random() * list.length), 1)[0];
    if (pick < 0.3) this.press();
    else if (pick < 0.5 && this.requests.length) this.deliver(any(this.requests));
    else if (pick < 0.75 && this.replies.length) this.receive(any(this.replies));
    else if (pick < 0.85 && this.old.length) this.repeat(this.old[Math.floor(this.random() * this.old.length)]);
    else if (this.timer) this.fire();
  }

  goOn() {
    const { later } = this;
    this.later = null;
    later();
  }

  fire() {
    const event = this.timer;
    this.timer = null;
    this.hear(event);
  }

  /* The network is whole again, and the person does nothing more; false when nothing is left to do. */
  settle() {
    if (this.later) this.goOn();
    else if (this.replies.length) this.receive(this.replies.shift());
    else if (this.requests.length) this.deliver(this.requests.shift(), true);
    else if (this.state.stage === "conflicting") this.choose();
    else if (this.timer) this.fire();
    else if (this.state.wish || this.state.stage === "withdrawing" || isUnsaved(this.state)) {
      const before = this.state;
      this.hear({ type: "retry" });
      return !same(before, this.state) || this.requests.length > 0;
    } else return false;
    return true;
  }

  /* A submission is stored once where it was wanted last, and no other one is. */
  inspect() {
    assert.ok(!isBusy(this.state), `it still waits: ${this.state.stage}`);
    for (const [id, item] of this.platform.items) {
      const wish = this.wishes.get(id);
      if (item.submitted) assert.ok(this.pressed.has(JSON.stringify(item.submitted)), "nobody has submitted that");
      if (wish && !item.skipped) assert.deepEqual(item.submitted, wish, `the submission of ${id} was not carried out`);
      assert.equal(item.stored - item.undone, item.submitted ? 1 : 0, "submitted more than once");
      assert.ok((this.ends.get(id) ?? 0) <= 1 + item.undone, "said to be done more than once");
      if (id !== this.id || isLost(this.state)) continue;
      const { stage, savesDrafts, entered } = this.state;
      if (stage !== "open" || !savesDrafts || !entered) continue;
      if (this.hasChanged) assert.equal(item.submitted, null, "what was changed since is submitted");
      if (item.submitted) continue;
      assert.ok([this.texts.get(id), OTHER].includes(item.draft?.data.text), "the last draft is not saved");
    }
  }
}

test(`in ${WALKS} walks no key is lost, no answer is another item's, and each submission is carried out once`, () => {
  const seen = new Set();
  for (let seed = 1; seed <= WALKS; seed += 1) {
    const walk = new Walk(seed);
    try {
      walk.run();
    } catch (error) {
      error.message = `walk ${seed}: ${error.message}`;
      throw error;
    }
    for (const pair of walk.seen) seen.add(pair);
  }
  for (const pair of ["open change", "open saved", "open saveFailed", "submitting saved", "submitting saveFailed", "submitting ended", "submitting endFailed", "submitting waited",
    "submitting fetched", "submitting checked", "withdrawing withdrawn", "withdrawing withdrawFailed", "withdrawing change", "withdrawing submit", "withdrawing skip", "conflicting rebase",
    "losing due", "losing saved", "refused change", "submitted goOn", "open retry"]) assert.ok(seen.has(pair), `no walk has come to ${pair}`);
});
