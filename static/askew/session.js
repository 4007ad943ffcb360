/* The person's session on the annotation page: what they did since their last break, how their last checks went, and a gentle
   word when a daily limit is near. It is asked for beside the work, after a submission, and nothing waits for it. */

import { counted, t } from "./language.js";
import { Problem, send } from "./api.js";

const DISMISSED = "askew:break"; // the day on which the reminder was dismissed

export class Session {
  #page;
  #url;
  #asking = null;

  constructor(page, url) {
    this.#page = page;
    this.#url = url;
    this.line = page.querySelector("[data-session]");
    this.checks = page.querySelector("[data-checks]");
    this.reminder = page.querySelector("[data-break]");
    this.reminder?.querySelector("button").addEventListener("click", () => {
      this.reminder.hidden = true;
      keep(today());
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

  #show({ items, minutes, per_hour: pace, earned, checks, day }) {
    const words = [
      counted(items, "{0} item", "{0} items"),
      t`${Math.round(minutes)} min`,
      ...(pace ? [t`${Math.round(pace)} items per hour`] : []),
      ...(earned ? [earned] : []),
      ...(checks ? [inWords(checks)] : []),
    ];
    if (this.line) this.line.textContent = t`This session: ${words.join(" · ")}`;
    if (this.checks && checks) {
      this.checks.textContent = inWords(checks);
      this.checks.closest("p").hidden = false;
    }
    this.#remind(day);
  }

  #remind(day) {
    if (!this.reminder) return;
    const near = Boolean(day?.is_near) && kept() !== today();
    this.reminder.hidden = !near;
    if (!near) return;
    const left = [
      ...(day.items_left === null ? [] : [counted(day.items_left, "{0} item", "{0} items")]),
      ...(day.minutes_left === null ? [] : [t`${day.minutes_left} min`]),
    ];
    this.reminder.querySelector("span").textContent = t`Today's limit is near: ${left.join(", ")} left. A good moment for a break soon.`;
  }
}

function inWords({ right, judged }) {
  return counted(judged, "{1} of your last {0} check right", "{1} of your last {0} checks right").replace("{1}", right);
}

const today = () => new Date().toISOString().slice(0, 10);

function kept() {
  try {
    return localStorage.getItem(DISMISSED);
  } catch {
    return null;
  }
}

function keep(day) {
  try {
    localStorage.setItem(DISMISSED, day);
  } catch { /* then it comes again with the next submission */ }
}
