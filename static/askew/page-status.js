/* What the page says: whether the response is saved, notices, progress, answers to questions, and words for screen readers. */

import { Problem, send } from "./api.js";
import { element } from "./elements.js";
import { t } from "./language.js";
import { recall, remember } from "./tab-memory.js";

const ANSWER = "answer-"; // topics of notices with answers to questions

export class PageStatus {
  /** @type {Set<string>} */
  #answered = new Set(); // answers to questions that this page has shown
  /** @type {string[]} */
  #readAnswers = []; // of these, those that were beside the current item, whole
  progress = /** @type {Progress} */ (/** @type {unknown} */ (null));
  /** @type {number | undefined} */
  #counting; // timer of the seconds until the next try
  lastingMessage = ""; // the message beside the progress bar that stays until something is entered

  /** @param {import("./annotate.js").AskewAnnotate} page */
  constructor(page) {
    this.page = page;
  }

  /* Say what has failed, count down the seconds until it is tried again, and try. Only the words are read out. */
  /** @param {string} state @param {string} words @param {number} seconds */
  countDown(state, words, seconds) {
    const retry = () => this.page.saving.carryOut();
    this.state(state, true);
    this.notice(words, "problem", "connection", retry, t("Try now"));
    const button = this.page.noticeList.querySelector("[data-topic=connection] > button");
    const before = /** @type {HTMLElement} */ (button.previousElementSibling);
    const place = before.matches("[data-seconds]") ? before : element("span", { ariaHidden: "true", dataset: { seconds: "" } });
    button.before(place, " ");
    let left = seconds;
    const tell = () => { place.textContent = left ? t`Retrying in ${left} s` : ""; };
    tell();
    this.#counting = setInterval(() => {
      left -= 1;
      tell();
      if (left) return;
      clearInterval(this.#counting);
      retry();
    }, 1000);
  }

  /* An item was finished beside these answers: they are read, and the header counts them no more. */
  async confirmAnswers() {
    for (const notice of this.page.noticeList.querySelectorAll(`[data-topic^="${ANSWER}"]`)) notice.remove();
    const answers = this.#readAnswers.splice(0);
    if (!answers.length || this.page.practice) return;
    try {
      const { unread } = await send("POST", `${this.page.dataset.api}batches/${this.page.current.batch.id}/answers/`, { answers });
      if (!unread) document.querySelector("nav .badge")?.closest("li").remove();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem; // they stay unread, and come again with the next page
    }
  }

  /* Answers to the person's questions, each shown once on this page. */
  /** @param {readonly QuestionAnswer[]} answers */
  tellAnswers(answers = []) {
    for (const { id, question, answer, is_whole: isWhole } of answers) {
      if (this.#answered.has(id)) continue;
      this.#answered.add(id);
      if (isWhole) this.#readAnswers.push(id);
      this.notice(t`Answer to your question “${question}”: ${answer}`, "note", `${ANSWER}${id}`);
    }
  }

  /** @param {Problem} problem */
  say(problem) {
    const words = problem.signedOut
      ? t("You are signed out. Your entries are stored in this browser. Sign in again in another tab, then try again.")
      : problem.passing
        ? t`${problem.message} Nothing is lost. Try again in a moment.`
        : problem.message;
    this.notice(words, "problem", problem.passing ? "connection" : "submit");
  }

  /* A module that a person asked for. That it does not come is said. */
  /** @template T @param {() => Promise<T>} load */
  async fetched(load) {
    try {
      return await load();
    } catch (problem) {
      this.say(new Problem(0));
      throw problem;
    }
  }

  /** @param {string} words @param {boolean} bad */
  state(words, bad = false) {
    clearInterval(this.#counting);
    const place = document.querySelector("[data-saved]");
    place.textContent = words;
    place.classList.toggle("bad", bad);
    this.lastingMessage = "";
  }

  /* "Previous item submitted." stays until something is entered: a refused Enter on the new item must not clear it unread. */
  unsay() {
    if (this.lastingMessage) this.state(document.querySelector("[data-saved]").textContent.replace(this.lastingMessage, "").trim());
  }

  /* The total is the one that the visit began with, although other people may add items meanwhile; it grows when this
     person gets more. A reload of the same tab never shrinks it. `open`: items on screen that are not submitted yet. */
  /** @param {Progress} progress @param {number} open */
  setProgress({ submitted, total }, open = 0) {
    const key = `askew:total:${this.page.dataset.batch}`;
    const [stored = 0] = this.page.practice || this.progress ? [] : recall(key);
    const progress = { submitted, total: Math.max(this.progress?.total ?? total, stored, submitted + open) };
    this.progress = progress;
    if (!this.page.practice) remember(key, [progress.total]);
    const bar = /** @type {HTMLProgressElement | null} */ (document.querySelector("[data-progress]"));
    const text = document.querySelector("[data-progress-text]");
    if (bar) {
      bar.max = Math.max(1, progress.total);
      bar.value = progress.submitted;
    }
    if (text) text.textContent = t`${progress.submitted} of ${progress.total}`;
  }

  /** @param {string} words */
  announce(words) {
    this.page.querySelector("[data-announce]").textContent = words;
  }

  /** @param {string} words @param {string} kind @param {string} topic @param {(() => unknown) | null} act @param {string} label */
  notice(words, kind = "problem", topic = "item", act = null, label = "") {
    const present = this.page.noticeList.querySelector(`[data-topic="${topic}"]`);
    if (present?.firstChild?.textContent === words) return;
    present?.remove();
    const notice = element("p", { className: `notice ${kind}`, dataset: { topic } }, element("span", { textContent: words }));
    if (act) {
      const button = element("button", { type: "button", className: "quiet", textContent: label });
      button.addEventListener("click", act);
      notice.append(" ", button);
    }
    this.page.noticeList.append(notice);
  }

  /* Of one topic, or all but answers to questions: those stay until an item was finished beside them. */
  /** @param {string | null} topic */
  clearNotices(topic = null) {
    for (const notice of this.page.noticeList.querySelectorAll(".notice")) {
      const goes = notice.dataset.topic !== "server" && !notice.dataset.topic?.startsWith(ANSWER); // "server" came with the page
      if (topic ? notice.dataset.topic === topic : goes) notice.remove();
    }
  }
}

/** The time of day of an instant, or "". @param {string | null | undefined} moment */
export function clock(moment) {
  return moment ? new Date(moment).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }) : "";
}
