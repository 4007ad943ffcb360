/* The life of an item on the annotation page, as data: loaded, edited, draft sent, submitting, submitted, refused.

   `transition(state, event)` returns the next state and the effects, which item.js carries out. It knows no page, no server
   and no clock. Requests are numbered, and a reply counts only for the request that is on its way: one that comes late,
   twice, or for a former item or version changes nothing.

   Stages: open         the person works on it; its drafts are saved
           submitting   it is submitted or skipped; first a draft on its way is waited for
           withdrawing  a submission had arrived, its answer was lost, and the person has chosen something else since
           conflicting  another window has saved another draft: the person chooses
           losing       the slot is gone; the draft is saved once more
           refused      the slot is gone; changes are kept in this browser alone
           submitted    it is done, also when it was skipped
           closed       no item, or one that is looked away from

   A wish is a submission without an answer. It is sent again until the server answers or the response changes. */

import { digest, same } from "./draft.js";

/**
 * @typedef {{action: "submit" | "skip", body: Record<string, any>, request: number | null}} Ending
 *
 * @typedef {object} State
 * @property {"open" | "submitting" | "withdrawing" | "conflicting" | "losing" | "refused" | "submitted" | "closed"} stage
 * @property {string | null} id  of the assignment
 * @property {number} revision  of the draft on the server; 0 for none
 * @property {ResponseBody | null} entered  null before the first change
 * @property {ResponseBody | null} stored  what the server has confirmed
 * @property {{request: number, response: ResponseBody} | null} sent  a draft on its way
 * @property {number | null} checking  a request that saves nothing, but that nothing may overtake
 * @property {boolean} again  the next draft follows at once
 * @property {boolean} savesDrafts  false once the server has refused one for good
 * @property {number} failures  of drafts, one after the other
 * @property {number[]} unheard  digests of responses that were sent without an answer yet: the server may have any of them
 * @property {Ending | null} ending  the submission or skip that is on its way, or follows a withdrawal
 * @property {boolean} hasWaited  long enough for the draft on its way
 * @property {{response: ResponseBody, confirmed: string[], tries: number} | null} wish
 * @property {ResponseBody | null} unanswered  the first response whose submission got no answer
 * @property {number | null} withdrawal  the request on its way
 * @property {Assignment[]} ahead  items that were fetched ahead, the next one first
 * @property {number | null} fetching  the request for one of them
 * @property {number} requests  how many were sent
 *
 * @typedef {{do: string, [detail: string]: any}} Effect
 * @typedef {{type: string, [detail: string]: any}} Event
 * @typedef {(effect: Effect) => void} Act
 */

const PAUSE = 300; // ms after the last key until a draft is sent
const PATIENCE = 3000; // ms that a submission waits for a draft on its way
const BACK_OFF = [1, 2, 4, 8, 15, 30]; // seconds
const UNHEARD = 20; // digests remembered
export const SLOT_GONE = new Set(["place_taken", "batch_closed", "decided", "already_submitted"]);

/** @type {Readonly<State>} */
export const START = Object.freeze({
  stage: "closed", id: null, revision: 0, entered: null, stored: null, sent: null, checking: null, again: false, savesDrafts: true, failures: 0,
  unheard: [], ending: null, hasWaited: false, wish: null, unanswered: null, withdrawal: null, ahead: [], fetching: null, requests: 0,
});

/**
 * What an event makes of a state, and what is to be done about it.
 * @param {State} state
 * @param {Event} event
 * @returns {{state: State, effects: Effect[]}}
 */
export function transition(state, event) {
  const item = { ...state };
  /** @type {Effect[]} */
  const effects = [];
  ON[event.type](item, event, (effect) => effects.push(effect));
  return { state: item, effects };
}

/** @param {State} item */
export const isUnsaved = ({ entered, stored }) => entered !== null && !same(entered, stored);

/** Whether something is on its way that ends the item: what is pressed meanwhile belongs to no item.
 * @param {State} item */
export const isBusy = ({ stage, withdrawal }) => stage === "submitting" || withdrawal !== null;

/** @param {State} item */
export const isLost = ({ stage }) => stage === "losing" || stage === "refused";

/** @type {Record<string, (item: State, event: Event, act: Act) => void>} */
const ON = {
  /* Begin with what the server holds: its revision (0 without a draft) and response (or null). `unheard` are digests of
     responses that this browser sent before; `isBack`: after another item was looked at. */
  open(item, { id, revision, stored, unheard = [], isBack = false }, act) {
    const { ahead, fetching, requests, wish, unanswered } = item;
    const former = isBack && id === item.id ? { wish, unanswered } : {};
    Object.assign(item, START, { stage: "open", id, revision, stored, unheard, ahead, fetching, requests, ...former });
    act({ do: "rest" });
  },

  close(item, _, act) {
    close(item, "closed", act);
  },

  /* The whole response, at every change. */
  change(item, { response }, act) {
    if (["closed", "submitted"].includes(item.stage)) return;
    if (item.stage !== "submitting") giveUp(item, act);
    if (item.stage === "withdrawing" && item.ending?.action === "submit" && !same(item.ending.body.response, response)) item.ending = null;
    item.entered = response;
    keep(item, act);
    if (item.stage === "open" && item.savesDrafts && !item.failures) act({ do: "wait", ms: PAUSE, next: "due" }); // else the next try takes the newest
  },

  /* Save now what is not saved. */
  due(item, _, act) {
    if (!["open", "losing"].includes(item.stage) || !item.savesDrafts) return;
    if (item.sent || item.checking !== null) item.again = true;
    else if (isUnsaved(item)) put(item, act);
    else if (item.stage === "losing") item.stage = "refused";
  },

  saved(item, { request, reply }, act) {
    if (!item.sent || item.sent.request !== request) return;
    const { response } = item.sent;
    Object.assign(item, { sent: null, failures: 0, revision: reply.revision, stored: response, unheard: [] });
    keep(item, act, same(item.entered, response));
    act({ do: "tell", what: "saved", reply, response });
    if (item.wish && item.stage === "open") act({ do: "tell", what: "answering" });
    proceed(item, act);
    if (item.stage === "losing" && !item.sent) item.stage = "refused";
  },

  saveFailed(item, { request, problem }, act) {
    if (item.sent?.request !== request) return;
    item.sent = null;
    if (item.stage === "refused") item.again = false;
    if (!["open", "losing"].includes(item.stage) && item.ending?.request !== null) return; // the submission tells
    const isStale = problem.code === "stale_draft";
    const newer = isStale ? problem.body.draft : null;
    if (newer && same(newer.response, item.entered)) { // our own last request, whose answer never arrived
      rebase(item, newer);
      act({ do: "forget", id: item.id });
      act({ do: "tell", what: "saved", reply: { ...newer, violations: null }, response: newer.response });
    } else if (newer && item.unheard.includes(digest(newer.response))) { // an earlier one of ours
      rebase(item, newer);
      keep(item, act);
    } else if (newer) {
      giveUp(item, act);
      Object.assign(item, { stage: "conflicting", ending: null, again: false });
      act({ do: "rest" });
      act({ do: "tell", what: "stale", draft: newer });
      return;
    } else if (isStale && item.revision) item.revision = 0; // the server has no draft any more
    else if (problem.passing) {
      fail(item, problem, act);
      return;
    } else if (refuse(item, problem, act)) return;
    proceed(item, act);
  },

  check(item, { response }, act) {
    item.checking = next(item);
    act({ do: "check", request: item.checking, id: item.id, revision: item.revision - 1, response });
  },

  checked(item, { request }, act) {
    if (item.checking !== request) return;
    item.checking = null;
    proceed(item, act);
  },

  submit(item, { response, confirmed = [] }, act) {
    if (!["open", "withdrawing"].includes(item.stage)) return;
    if (!same(response, item.entered ?? item.stored)) {
      item.entered = response;
      keep(item, act);
    }
    leave(item, "submit", { response, confirmed }, act);
  },

  skip(item, { reason }, act) {
    leave(item, "skip", { reason }, act);
  },

  waited(item, _, act) {
    item.hasWaited = true;
    if (item.stage === "submitting") end(item, act);
  },

  ended(item, { request, reply }, act) {
    if (item.stage !== "submitting" || !item.ending || item.ending.request !== request) return;
    const { action } = item.ending;
    close(item, "submitted", act);
    act({ do: "forget", id: item.id });
    act({ do: "tell", what: "ended", action, reply });
  },

  endFailed(item, { request, problem }, act) {
    if (item.stage !== "submitting" || !item.ending || item.ending.request !== request) return;
    const { action, body } = item.ending;
    if (problem.code === "already_submitted" && item.unanswered) {
      item.ending = { action, body, request: null };
      withdraw(item, act);
      return;
    }
    Object.assign(item, { stage: "open", ending: null });
    if (action === "submit" && problem.passing) {
      const tries = item.wish?.tries ?? 0;
      item.unanswered ??= body.response;
      item.wish = { response: body.response, confirmed: body.confirmed, tries: tries + 1 };
      if (item.entered && !same(item.entered, body.response)) giveUp(item, act);
      else act({ do: "tell", what: "waiting", problem, seconds: secondsAfter(tries) });
    } else {
      if (action === "submit") giveUp(item, act);
      if (SLOT_GONE.has(problem.code)) lose(item, "losing", problem, act);
      else act({ do: "tell", what: "notEnded", problem });
    }
    proceed(item, act);
  },

  withdrawn(item, { request, draft }, act) {
    if (item.withdrawal !== request) return;
    const { ending } = item;
    rebase(item, draft);
    Object.assign(item, { stage: "open", withdrawal: null, unanswered: null, ending: null });
    if (item.entered) keep(item, act, !isUnsaved(item));
    act({ do: "tell", what: "withdrawn", draft });
    if (ending) leave(item, ending.action, ending.body, act);
    else proceed(item, act);
  },

  withdrawFailed(item, { request, problem }, act) {
    if (item.withdrawal !== request) return;
    item.withdrawal = null;
    if (problem.passing) return act({ do: "tell", what: "failing", problem, seconds: secondsAfter(0) });
    Object.assign(item, { stage: "open", unanswered: null, ending: null });
    if (SLOT_GONE.has(problem.code)) lose(item, "refused", problem, act);
    else act({ do: "tell", what: "notEnded", problem });
    proceed(item, act);
  },

  /* The server may answer again: do what waits for it. */
  retry(item, event, act) {
    if (item.stage === "withdrawing" && item.withdrawal === null) withdraw(item, act);
    else if (item.stage === "open" && item.wish) leave(item, "submit", { response: item.wish.response, confirmed: item.wish.confirmed }, act);
    else ON.due(item, event, act);
  },

  /* A sign of life was refused: the slot was given to somebody else, or the batch or item was closed. */
  lose(item, { problem }, act) {
    if (item.stage === "open") lose(item, "losing", problem, act);
  },

  /* The person has chosen between two drafts: go on with `response` or, without it, with that of the server. */
  rebase(item, { draft, response = null }, act) {
    rebase(item, draft);
    Object.assign(item, { stage: "open", savesDrafts: true, entered: null }); // what was turned down is not sent when the page is left
    if (response) ON.change(item, { type: "change", response }, act);
    else act({ do: "forget", id: item.id });
  },

  /* The page may be gone in a moment: one last request that may outlive it. The copy stays until confirmed. */
  leavePage(item, _, act) {
    if (item.stage !== "open" || !item.savesDrafts || item.sent || !isUnsaved(item)) return;
    expectAnswer(item, act);
    act({ do: "lastPut", id: item.id, revision: item.revision, response: item.entered });
  },

  fetchAhead(item, _, act) {
    if (item.ahead.length || item.fetching !== null) return;
    item.fetching = next(item);
    act({ do: "fetch", request: item.fetching, id: item.id });
  },

  /* `assignment` is null where there is none, or no answer: the next submission asks again. */
  fetched(item, { request, assignment }, act) {
    if (item.fetching !== request) return;
    item.fetching = null;
    if (assignment && assignment.id !== item.id) append(item, assignment);
    if (item.stage === "submitting") end(item, act);
  },

  /* Another item takes the place of this one, which follows it. */
  shelve(item, { assignment }) {
    item.ahead = [assignment, ...item.ahead.filter(({ id }) => id !== assignment.id)];
  },

  /* On to the next item; `next` came with the last answer. */
  goOn(item, { next: latest, said }, act) {
    if (latest) append(item, latest);
    const [assignment = null, ...ahead] = item.ahead;
    item.ahead = ahead;
    act({ do: "tell", what: "next", assignment, latest, said });
  },
};

/** @param {State} item */
function next(item) {
  item.requests += 1;
  return item.requests;
}

/** @param {State} item @param {Assignment} assignment */
function append(item, assignment) {
  if (!item.ahead.some(({ id }) => id === assignment.id)) item.ahead = [...item.ahead, assignment];
}

/** Seconds from a failed try to the next one. @param {number} failures before it */
const secondsAfter = (failures) => BACK_OFF[Math.min(failures, BACK_OFF.length - 1)];

// --- drafts ----------------------------------------------------------------------------------------------------------

/** @param {State} item @param {Act} act */
function put(item, act) {
  const request = next(item);
  const response = /** @type {ResponseBody} */ (item.entered);
  item.again = false;
  item.sent = { request, response };
  expectAnswer(item, act);
  act({ do: "rest" });
  act({ do: "tell", what: "saving" });
  act({ do: "put", request, id: item.id, revision: item.revision, response });
}

/** @param {State} item @param {Act} act */
function expectAnswer(item, act) {
  item.unheard = [...item.unheard.slice(1 - UNHEARD), digest(item.entered)];
  keep(item, act);
}

/** @param {State} item @param {Act} act @param {boolean} saved */
function keep({ id, revision, entered: response, unheard }, act, saved = false) {
  act({ do: "keep", id, copy: { revision, response, unheard, saved } });
}

/** Go on from another draft of the server. @param {State} item @param {DraftReply} draft */
function rebase(item, draft) {
  Object.assign(item, { revision: draft.revision, stored: draft.response, failures: 0 });
}

/** What follows when no draft is on its way any more. @param {State} item @param {Act} act */
function proceed(item, act) {
  if (item.stage === "submitting") end(item, act);
  else if (["open", "losing"].includes(item.stage) && isUnsaved(item) && item.savesDrafts && !item.sent) {
    if (item.again) put(item, act);
    else if (item.stage === "open") act({ do: "wait", ms: PAUSE, next: "due" });
  }
  if (!item.sent && item.checking === null) item.again = false; // all of it is saved
}

/** @param {State} item @param {Problem} problem @param {Act} act */
function fail(item, problem, act) {
  const seconds = secondsAfter(item.failures);
  item.failures += 1;
  item.again = false;
  if (item.stage === "losing") item.stage = "refused";
  if (item.stage === "submitting") end(item, act);
  if (item.stage !== "open") return;
  act({ do: "wait", ms: seconds * 1000, next: "due" });
  if (!item.wish) act({ do: "tell", what: "failing", problem, seconds }); // its own next try saves the response as well
}

/** A draft was refused. Returns whether that has decided what follows. @param {State} item @param {Problem} problem @param {Act} act */
function refuse(item, problem, act) {
  item.again = false;
  if (problem.code === "already_submitted" && item.unanswered) {
    if (item.stage === "submitting") return false;
    if (item.wish) act({ do: "tell", what: "answering" }); // answered like the first one
    else withdraw(item, act);
    return true;
  }
  if (item.stage === "losing") {
    item.stage = "refused";
    return true;
  }
  if (SLOT_GONE.has(problem.code)) {
    lose(item, "refused", problem, act);
    return true;
  }
  if (problem.status === 409) item.savesDrafts = false;
  act({ do: "tell", what: "refused", problem });
  return item.stage === "open"; // the next change is sent
}

// --- ending an item --------------------------------------------------------------------------------------------------

/** @param {State} item @param {"submit" | "skip"} action @param {Record<string, any>} body @param {Act} act */
function leave(item, action, body, act) {
  if (item.stage !== "open" && item.stage !== "withdrawing") return;
  item.ending = { action, body, request: null };
  act({ do: "tell", what: "ending" });
  if (item.stage === "withdrawing") {
    if (item.withdrawal === null) withdraw(item, act);
    return;
  }
  Object.assign(item, { stage: "submitting", hasWaited: false, again: false });
  act(item.sent || item.checking !== null ? { do: "wait", ms: PATIENCE, next: "waited" } : { do: "rest" });
  end(item, act);
}

/** Send what ends the item, once, and as long as nothing can overtake it. @param {State} item @param {Act} act */
function end(item, act) {
  const { ending } = item;
  const waits = item.fetching !== null || (!item.hasWaited && (item.sent || item.checking !== null));
  if (waits || !ending || ending.request !== null) return;
  const { action, body } = ending;
  const request = next(item);
  item.ending = { action, body, request };
  act({ do: "end", request, id: item.id, action, body: { ...body, next: true, holding: item.ahead.map(({ id }) => id) } });
}

/** @param {State} item @param {Act} act */
function withdraw(item, act) {
  Object.assign(item, { stage: "withdrawing", wish: null, withdrawal: next(item) });
  act({ do: "rest" });
  act({ do: "withdraw", request: item.withdrawal, id: item.id });
}

/** What was to be submitted is what was here before. @param {State} item @param {Act} act */
function giveUp(item, act) {
  if (!item.wish) return;
  item.wish = null;
  act({ do: "tell", what: "givenUp", isUnsaved: isUnsaved(item) });
}

/** @param {State} item @param {"losing" | "refused"} stage @param {Problem} problem @param {Act} act */
function lose(item, stage, problem, act) {
  giveUp(item, act);
  if (problem.code === "batch_closed") item.ahead = [];
  Object.assign(item, { stage, ending: null });
  act({ do: "tell", what: "lost", problem });
}

/** @param {State} item @param {"submitted" | "closed"} stage @param {Act} act */
function close(item, stage, act) {
  const former = stage === "closed" ? { wish: item.wish, unanswered: item.unanswered } : { wish: null, unanswered: null };
  Object.assign(item, { stage, sent: null, checking: null, again: false, ending: null, withdrawal: null, ...former });
  act({ do: "rest" });
}
