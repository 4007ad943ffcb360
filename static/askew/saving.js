/* What the page shows and asks of the server while an item is saved, submitted, lost or followed by the next one (item.js). */

import { Problem, send } from "./api.js";
import { same } from "./draft.js";
import { SLOT_GONE } from "./item-state.js";
import { t } from "./language.js";
import { later } from "./later.js";
import { clock } from "./page-status.js";
import { remember } from "./tab-memory.js";

export const PING = 30_000; // ms between signs of life
const AGAIN = 2000; // ms until a module that did not come is asked for again
const ACTIVE = 60_000; // ms after the last key or pointer that somebody still counts as active
export const WISH = "askew:not-submitted"; // the item whose submission has got no answer
/** @type {Record<string, string>} */
const LOST = {
  batch_closed: t("This batch is closed."),
  decided: t("This item is already decided."),
  already_submitted: t("You submitted this item in another window."),
};

export class Saving {
  #fetchedAt = 0; // when the waiting item came
  #lastActive = Date.now();
  #versions = later(() => import("./versions.js"));

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  /* What item.js asks of this page. */
  /** @returns {import("./item.js").PageOfItem} */
  pageOfItem() {
    return {
      tell: {
        saving: () => this.page.item.isWished || this.page.status.state(t("Saving…")),
        saved: ({ reply, response }) => this.#onSaved(reply, response),
        failing: ({ problem, seconds }) => this.#onFailing(problem, seconds),
        refused: ({ problem }) => this.#onRefused(problem),
        stale: ({ draft }) => this.#onStale(draft),
        answering: () => setTimeout(() => this.carryOut()),
        ending: () => this.page.status.clearNotices("submit"),
        ended: ({ action, reply }) => this.page.submission.onEnded(action, reply),
        notEnded: ({ problem }) => this.page.submission.onNotEnded(problem),
        waiting: ({ problem, seconds }) => this.#onWaiting(problem, seconds),
        givenUp: ({ isUnsaved }) => this.#onGivenUp(isUnsaved),
        withdrawn: ({ draft }) => this.#onWithdrawn(draft),
        lost: ({ problem }) => this.#onLost(problem),
        next: ({ assignment, latest, said }) => this.#onNext(assignment, latest, said),
      },
      end: async (action, id, body) => {
        await this.page.querySelector("askew-proposals")?.told;
        return send("POST", this.page.url(action, id), body, { part: action === "submit" ? "annotation" : null });
      },
      withdraw: async (id) => {
        const { annotation } = await send("GET", this.page.url("response", id));
        const { draft } = await send("POST", `${this.page.dataset.api}annotations/${annotation}/undo/`, {});
        return draft;
      },
      fetchNext: async (id) => {
        const assignment = await send("POST", `${this.page.dataset.api}batches/${this.page.current.batch.id}/next/`, { holding: [id] });
        this.#fetchedAt = Date.now();
        return assignment;
      },
      urlOf: (id, action) => this.page.url(action, id),
      redraw: () => this.page.drawBusy(),
    };
  }

  /** @param {any} reply @param {ResponseBody} response */
  #onSaved(reply, response) {
    this.page.current = { ...this.page.current, draft: { revision: reply.revision, response, saved_at: reply.saved_at } };
    this.#versions().catch(() => {}); // for the day when another window saves, too
    if (!this.page.item.isWished) {
      this.page.status.state(this.page.item.isUnsaved ? t("Saving…") : t`Saved ${clock(reply.saved_at)}`);
      this.page.status.clearNotices("connection");
    }
    if (reply.closed) this.page.status.notice(t("This batch is closed. Your draft is saved under “My work” and cannot be submitted."), "problem", "closed");
    else this.page.status.clearNotices("closed");
    if (reply.violations) this.page.requirements.take(reply, response);
    this.page.requirements.refresh();
  }

  /** @param {Problem} problem @param {number} seconds */
  #onFailing(problem, seconds) {
    const words = problem.signedOut
      ? t("You are signed out. Your entries are stored in this browser. Sign in again in another tab, then saving resumes here.")
      : t`${problem.message} Your entries are stored in this browser and saved as soon as possible.`;
    this.page.status.countDown(t("Not saved"), words, seconds);
  }

  /* A submission got no answer. It stays what the person wants until the response is changed: it is sent again, and until the
     server has answered the page says that it is not submitted. */
  /** @param {Problem} problem @param {number} seconds */
  #onWaiting(problem, seconds) {
    remember(WISH, [this.page.current.id]);
    const words = problem.signedOut
      ? t("You are signed out. Your response is stored in this browser. Sign in again in another tab, then it is submitted.")
      : t`${problem.message} Your response is stored in this browser and submitted as soon as the server answers.`;
    this.page.status.countDown(t("Saved, not submitted"), words, seconds);
  }

  /* Do what waits for the server, as soon as nothing else is on its way. */
  carryOut() {
    if (this.page.lookback.home) return;
    if (this.page.isGuarded) setTimeout(() => this.carryOut(), 1000);
    else this.page.item.retry();
  }

  /** @param {boolean} isUnsaved */
  #onGivenUp(isUnsaved) {
    this.page.status.clearNotices("connection");
    this.page.status.state(isUnsaved ? t("Not saved") : t("Saved, not submitted"), true);
  }

  /** @param {Problem} problem */
  #onRefused(problem) {
    this.page.status.state(t("Not saved"), true);
    this.page.status.notice(t`${problem.message} Your entries are still here and stored in this browser.`, "problem", problem.passing ? "connection" : "submit");
  }

  /** @param {DraftReply} draft */
  #onStale(draft) {
    this.page.status.state(t("Not saved: this item was changed in another window"), true);
    this.chooseVersion(() => this.page.response, draft);
  }

  /* Two versions of one response: the person chooses. Until then both exist, here and on the server. What is entered until
     they can choose counts: `entered` returns it. */
  /** @param {() => ResponseBody} entered @param {DraftReply} draft */
  async chooseVersion(entered, draft) {
    const { id } = this.page.current;
    const versions = await this.#versions().catch(() => null);
    if (id !== this.page.current.id) return;
    if (!versions) {
      this.page.status.say(new Problem(0));
      setTimeout(() => this.chooseVersion(entered, draft), AGAIN);
      return;
    }
    const mine = entered();
    const choice = await versions.chooseVersion({ fields: this.page.fields, grid: this.page.grid, mine: mine.data, other: draft.response.data, savedAt: clock(draft.saved_at) });
    if (choice === "other") {
      this.page.item.hear({ type: "rebase", draft });
      this.page.show({ ...this.page.current, draft }, { isBack: true }); // as a page that is opened now: what a program gave for the dropped version goes
    } else {
      this.page.values.setUnsure(Boolean(mine.unsure));
      if (!same(this.page.values.collect(), mine.data)) this.page.put(mine.data);
      this.page.item.hear({ type: "rebase", draft, response: mine });
      this.page.requirements.refresh();
    }
    if (document.activeElement === document.body) this.page.focusStart(); // the cell that had it was painted anew
  }

  /* A submission that got no answer had arrived, and the person has chosen something else since: it is the draft again. */
  /** @param {DraftReply} draft */
  #onWithdrawn(draft) {
    this.page.status.clearNotices("connection");
    if (!this.page.item.isUnsaved) this.#onSaved(draft, draft.response);
  }

  /* The place was given to somebody else, or the batch or item was closed: what was entered stays a draft. */
  /** @param {Problem} problem */
  async #onLost(problem) {
    const { id } = this.page.current;
    this.page.item.change(this.page.response);
    const kept = await this.page.item.flush();
    if (id !== this.page.current.id || this.page.lookback.home) return; // another item is shown by now
    if (!kept) this.page.status.state(t("Not saved"), true);
    const where = kept ? t("Your draft is saved under “My work”.") : t("Your entries are stored in this browser.");
    // Why a place is gone the server knows, and says where the draft is.
    const words = LOST[problem.code] ? `${LOST[problem.code]} ${where}` : kept ? problem.message : `${problem.message} ${where}`;
    this.page.status.notice(words, "problem", "submit", () => this.advance("", null, 0), t("Go to the next item"));
  }

  /** @param {string} said @param {ItemAssignment | null} next @param {number} submitted */
  advance(said, next, submitted) {
    this.page.status.confirmAnswers();
    this.page.status.setProgress({ ...this.page.status.progress, submitted: this.page.status.progress.submitted + submitted });
    this.page.item.hear({ type: "goOn", next, said });
  }

  /** @param {ItemAssignment | null} assignment @param {ItemAssignment | null} latest @param {string} said */
  #onNext(assignment, latest, said) {
    if (assignment) {
      // A waiting item was counted when it was fetched; what was submitted since is known here.
      const counted = latest?.progress ?? { ...assignment.progress, submitted: this.page.status.progress.submitted };
      // So do answers to questions: they may have come since the item was fetched.
      this.page.show({ ...assignment, progress: counted, answers: latest?.answers ?? assignment.answers }, { said });
      if (Date.now() - this.#fetchedAt > PING) setTimeout(() => this.ping()); // nothing has renewed its lease since
    } else {
      location.assign(this.page.dataset.done || location.href);
    }
  }

  active() {
    const away = Date.now() - this.#lastActive;
    this.#lastActive = Date.now();
    if (away > PING) this.ping();
  }

  async ping() {
    const idle = Date.now() - this.#lastActive > ACTIVE;
    if (idle || document.visibilityState === "hidden" || this.page.item.isLost || this.page.isSending) return;
    const { id } = this.page.lookback.home ?? this.page.current;
    try {
      const reply = await send("POST", `${this.page.dataset.api}assignments/${id}/ping/`, {});
      this.page.status.tellAnswers(reply?.answers);
      if (id === this.page.current.id && reply?.lease) this.#tellLease(reply.lease);
    } catch (error) {
      const problem = /** @type {Problem} */ (error);
      if (!SLOT_GONE.has(problem.code)) return;
      if (this.page.lookback.home?.id === id) this.page.past?.comeBack();
      if (id === this.page.current.id) this.page.item.hear({ type: "lose", problem });
    }
  }

  /* Without a lease somebody else may get the item, or has it. As long as nobody has, it can be submitted. */
  /** @param {Lease} lease */
  #tellLease(lease) {
    this.page.current = { ...this.page.current, lease };
    if (lease.seconds) this.page.status.clearNotices("lease");
    else this.page.status.notice(t("This item is no longer reserved for you. You can submit it as long as no other annotator has taken it."), "problem", "lease", () => this.page.guard(async () => {
      await this.page.item.flush();
      this.advance("", null, 0);
    }), t("Go to the next item"));
  }
}
