/* The person's session on the annotation page: what they did since their last break, how their last checks went, and a gentle
   word when a daily limit is near. It is asked for beside the work, after a submission, and nothing waits for it. */

import { counted, t } from "./language.js";
import { Problem, send } from "./api.js";
import { keep, recallJson } from "./browser-storage.js";

const DISMISSED = "askew:break"; // the keys of the days whose reminder was dismissed
const REMEMBERED = 50;

export class Session {
  /** @type {string} */
  #url;
  /** @type {Promise<void> | null} */
  #asking = null;
  #day = "";

  /** @param {HTMLElement} page @param {string} url */
  constructor(page, url) {
    this.#url = url;
    this.line = page.querySelector("[data-session]");
    this.checks = document.querySelector("[data-checks]"); // both in the status line of the header
    this.reminder = document.querySelector("[data-break]");
    this.reminder?.querySelector("button").addEventListener("click", () => {
      this.reminder.hidden = true;
      dismiss(this.#day);
    });
  }

  /* Ask again; one request at a time. What fails is asked for with the next submission. */
  refresh() {
    this.#asking ??= send("GET", this.#url)
      .then((session) => this.#show(session))
      .catch((problem) => {
        if (!(problem instanceof Problem)) throw problem;
      })
      .finally(() => { this.#asking = null; });
    return this.#asking;
  }

  /** @param {WorkSession} session */
  #show(session) {
    const { items, per_hour: pace, earned, checks, day } = session;
    const words = [
      counted(items, "{0} item", "{0} items"),
      time(session),
      ...(pace ? [t`${Math.round(pace)} items per hour`] : []),
      ...(earned ? [earned] : []),
      ...(checks ? [inWords(checks)] : []),
    ];
    if (this.line) this.line.textContent = t`This session: ${words.join(" · ")}`;
    if (this.checks && checks) {
      this.checks.textContent = inWords(checks);
      this.checks.parentElement.hidden = false;
    }
    this.#remind(day);
  }

  /** @param {WorkDay | null} day */
  #remind(day) {
    if (!this.reminder) return;
    this.#day = day?.key ?? "";
    const near = day?.is_near && !dismissed().includes(this.#day);
    if (!near) {
      this.reminder.hidden = true;
      return;
    }
    const left = [
      ...(day.items_left === null ? [] : [counted(day.items_left, "{0} item", "{0} items")]),
      ...(day.minutes_left === null ? [] : [t`${day.minutes_left} min`]),
    ];
    this.reminder.querySelector("[data-break-words]").textContent = t`Only ${left.join(", ")} left today.`;
    this.reminder.hidden = false;
  }
}

/** @param {number} minutes */
const decimal = (minutes) => {
  const form = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return new Intl.NumberFormat(document.documentElement.lang, form).format(minutes);
};

/* Active time; on responses, skips and returns apart where there is any beside responses, as on other pages. */
/** @param {WorkSession} session */
function time({ minutes, minutes_submitted: responses, minutes_skipped: skips, minutes_returned: returns }) {
  if (!skips && !returns) return t`${Math.round(minutes)} min`;
  return t`${decimal(minutes)} min (responses ${decimal(responses)}, skips ${decimal(skips)}, returns ${decimal(returns)})`;
}

/** @param {Checks} checks */
function inWords({ right, judged }) {
  return counted(judged, "{1} of your last {0} test item correct", "{1} of your last {0} test items correct").replace("{1}", String(right));
}

/** @returns {string[]} */
const dismissed = () => recallJson(DISMISSED) ?? [];

/** @param {string} day */
function dismiss(day) {
  keep(DISMISSED, JSON.stringify([...dismissed(), day].slice(-REMEMBERED)));
}
