/* A person who writes while the page waits for something: no letter is lost, and none of them runs a command.

   What is waited for comes in the middle of a text, or just before it, at 0, 0.3, 1 and 5 seconds after the item. */

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { data, openPage } from "./page.js";

const DELAYS = [0, 300, 1000, 5000]; // ms
const TEXT = "us leg12 pixe"; // undo, skip, not sure, examples, flag, choices, previous items, guidelines, exclude
const LATER = 40; // ms between what comes and a key that was on its way
const PROPOSALS = data("waits/proposals");
const PROGRAM = { program: { op: "count" }, value: '{"op":"count"}', words: "Count the rows", answer: ["3"] };
const SAVED = { revision: 1, saved_at: "2026-03-02T12:00:00Z", violations: [] };
const VERDICT = { ...SAVED, answer: { before: ["1995"], computed: ["1979"], problem: "", differs: true, alternatives: [] } };
const CELL = "[data-row=r1] [data-column=c2]";
const QUESTION = "textarea[name=question]";
const ANSWERS = "textarea[name=answers]";

/* What is waited for: the page, the request and its reply; where a person writes. `first` leads to the wait; `takes` is how
   long after the reply the focus moves, where it does. */
const WAITS = {
  "proposals in a list": { page: "offered", request: "POST /proposals/", reply: PROPOSALS.offered, place: QUESTION, takes: 0 },
  "proposals that are filled in": { page: "filled", request: "POST /proposals/", reply: PROPOSALS.filled, place: QUESTION, takes: 0 },
  "suggested programs": {
    page: "new_answer", request: "GET /suggestions/", reply: { suggestions: { programs: [PROGRAM] }, reason: "" }, place: CELL, takes: 251,
  },
  "suggested names": { page: "header_synonym", request: "GET /suggestions/", reply: { suggestions: null, reason: "None." }, place: ".line .head" },
  "the verdict": { page: "new_answer", request: "PUT /draft/", reply: VERDICT, place: ANSWERS, first: changesCell },
  "the next item": { page: "new_answer", request: "POST /next/", reply: { status: 204 }, place: CELL },
  "a sign of life": { page: "new_answer", request: "POST /ping/", reply: { lease: { seconds: 1200 }, answers: [] }, place: CELL, first: pings },
  "a window that comes back": { page: "new_answer", place: CELL, comes: leaves },
};
const PAGES = {
  filled: (options) => openPage("waits/filled", options), header_synonym: (options) => openPage("waits/header_synonym", options),
  new_answer: (options) => openPage("waits/new_answer", options), offered: (options) => openPage("waits/offered", options),
};

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

/* The page of a wait whose reply is held; it comes with `page.comes()`. */
async function opens({ page: name, request, reply, comes }) {
  mock.timers.reset();
  mock.restoreAll();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.parse("2026-03-02T12:00:00Z") });
  mock.method(performance, "now", () => Date.now());
  const waiting = [];
  const page = await PAGES[name]({ replies: {
    "POST /next/": { status: 204 }, "PUT /draft/": SAVED, "GET /suggestions/": { suggestions: null, reason: "" }, "GET /session/": { status: 404 },
    "POST /ping/": { lease: { seconds: 1200 }, answers: [] }, "POST /handle/": { status: 204 }, "POST /predictions/": new TypeError("no model"),
    ...(request ? { [request]: () => new Promise((resolve) => waiting.push(() => resolve(reply))) } : {}),
  } });
  page.comes = async () => {
    if (request) assert.ok(waiting.length, `${request} is not waited for`);
    waiting.splice(0).forEach((act) => act());
    comes?.(page);
    await page.settled();
  };
  return page;
}

async function passes(page, milliseconds) {
  for (let left = milliseconds; left > 0; left -= 50) await page.passes(Math.min(50, left));
}

/* Go where a person writes; the keyboard is there already, but for a field that Tab leads to. */
function goes(page, device, selector) {
  const place = page.find(selector);
  if (device === "touch") {
    for (const type of ["touchstart", "pointerdown"]) place.dispatchEvent(new page.window.Event(type, { bubbles: true }));
  }
  if (device !== "key") page.click(place);
  else if (selector === ANSWERS) place.focus();
}

/* Letters: the keydown of each, and the letter where the focus is by then. A keyboard on a screen names no key in a field. */
function types(page, device, text) {
  const { KeyboardEvent, InputEvent } = page.window;
  for (const each of text) {
    const key = device === "touch" && page.focused.matches("textarea, input") ? "Unidentified" : each;
    const goesOn = page.focused.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const field = page.focused;
    if (!goesOn || !field.matches("textarea, input[type=text]")) continue;
    const init = { bubbles: true, cancelable: true, data: each, inputType: "insertText" };
    if (!field.dispatchEvent(new InputEvent("beforeinput", init))) continue;
    field.setRangeText(each, field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new InputEvent("input", init));
  }
}

/* All that is written on the page. */
function written(page) {
  const texts = page.all("textarea, input[type=text]").map(({ value }) => value);
  return JSON.stringify([texts, page.find("askew-annotate").grid?.operations ?? []]);
}

/* What a letter may not have done. */
function commands(page) {
  const acts = page.server.requests.filter(({ method, path, body }) => method === "POST"
    && (/\/(submit|skip|undo|flag|ask)\//.test(path) || (path.includes("/handle/") && body.act === "rejected")));
  const opened = page.all("dialog[open], details.pop[open], [aria-pressed=true][data-unsure], [data-past]:not([hidden])");
  return [...acts.map(({ path }) => path), ...opened.map(({ outerHTML }) => outerHTML.slice(0, 60))];
}

async function changesCell(page) {
  page.click(CELL);
  types(page, "mouse", "7");
  page.press("Enter");
  await passes(page, 400);
}

async function pings(page) {
  await passes(page, 20_000);
  page.window.dispatchEvent(new page.window.Event("pointermove"));
  await passes(page, 10_000);
}

/* The window loses the focus and gets it back, and with it what had it. */
function leaves(page) {
  const { focused, window } = page;
  for (const type of ["blur", "focus"]) {
    focused.dispatchEvent(new window.FocusEvent(type));
    window.dispatchEvent(new window.FocusEvent(type));
  }
}

for (const [name, wait] of Object.entries(WAITS)) {
  test(`${name}: whoever writes meanwhile loses no letter`, async () => {
    for (const delay of DELAYS) {
      for (const device of ["mouse", "key", "touch"]) {
        const page = await opens(wait);
        await wait.first?.(page);
        const middle = delay && device !== "key" ? 0 : 6; // a pointer alone says that somebody has begun
        goes(page, device, wait.place);
        types(page, device, TEXT.slice(0, middle));
        await passes(page, delay);
        await page.comes();
        await passes(page, LATER);
        types(page, device, TEXT.slice(middle));
        await passes(page, 400);
        assert.ok(written(page).includes(TEXT), `${delay} ms, ${device}: ${written(page)}`);
        assert.deepEqual(commands(page), [], `${delay} ms, ${device}`);
      }
    }
  });

  if (!("takes" in wait)) continue;
  test(`${name}: whoever was about to write loses no letter`, async () => {
    for (const delay of DELAYS) {
      for (const device of ["mouse", "key", "touch"]) {
        if (delay === 0 && device === "key") continue; // it came with the item, and has the focus from the start
        const page = await opens(wait);
        await wait.first?.(page);
        await passes(page, delay);
        await page.comes();
        await passes(page, wait.takes + LATER);
        goes(page, device, wait.place);
        types(page, device, TEXT);
        await passes(page, 400);
        assert.ok(written(page).includes(TEXT), `${delay} ms, ${device}: ${written(page)}`);
        assert.deepEqual(commands(page), [], `${delay} ms, ${device}`);
      }
    }
  });
}
