/* Pages with a model in the loop: timers that a test moves, typing, and what the line of the model says. */

import { afterEach, mock } from "node:test";

afterEach(() => mock.timers.reset());

/* What openPage takes, with timers that the test moves; `predictions` answers the requests to the model. */
export function options(predictions, more = {}) {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.parse("2026-03-02T12:00:00Z") });
  const { setTimeout: mocked } = globalThis;
  globalThis.setTimeout = (callback, delay = 0, ...more) => mocked(callback, delay, ...more); // without a delay, Node's never comes
  return { replies: {
    "POST /next/": { status: 204 },
    "PUT /draft/": { revision: 1, saved_at: "2026-03-02T12:00:00Z", violations: [] },
    "GET /suggestions/": { suggestions: null, reason: "" },
    "GET /session/": { status: 404 },
    "POST /predictions/": predictions,
    ...more,
  } };
}

/* Time in steps: what a timer starts has its own time. */
export async function passes(page, milliseconds) {
  for (let left = milliseconds; left > 0; left -= 50) await page.passes(Math.min(50, left));
}

export async function typed(page, text) {
  page.fill("textarea[name=question]", text);
  await passes(page, 100);
}

export const box = (page) => page.find("askew-prediction");
export const state = (page) => box(page).dataset.state;
export const part = (page, name) => page.find(`askew-prediction [data-part=${name}]`);
export const textOf = (page, name) => part(page, name).textContent;
export const line = (page) => page.texts("[data-part=line] > span");
export const answers = (page) => page.texts(".looks :is([data-part=original], [data-part=perturbed]) li");
