/* A slot that is not held any more, and a browser that is too old: the page says so, once and in time. */

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";

import { openPage } from "./page.js";

const MINUTE = 60_000; // ms
const HELD = { lease: { seconds: 1200 }, answers: [] };
const LOST = { lease: { seconds: 0 }, answers: [] };
const notices = (page) => page.find("[data-notices]").textContent;
const pings = (page) => page.server.sent("POST", "/ping/").map(({ path }) => path.split("/").at(-3));

afterEach(() => mock.timers.reset());

async function opens(replies) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.parse("2026-03-02T12:00:00Z") });
  return openPage("page_at_work/question_type", { replies: {
    "POST /next/": { status: 204 }, "PUT /draft/": { revision: 1, saved_at: "2026-03-02T12:00:00Z", violations: [] }, "POST /ping/": HELD, ...replies,
  } });
}

const moves = (page) => page.window.dispatchEvent(new page.window.Event("pointermove"));

test("the first sign of life after a slot is lost says so, and the item can still be submitted", async () => {
  let reply = HELD;
  const page = await opens({ "POST /ping/": () => reply, "POST /submit/": { status: 503, body: {} } });
  moves(page);
  await page.passes(MINUTE / 2);
  assert.equal(pings(page).length, 1);
  assert.equal(notices(page), "");
  reply = LOST;
  await page.passes(20 * MINUTE);
  const before = pings(page).length;
  moves(page); // somebody is back
  await page.settled();
  assert.equal(pings(page).length, before + 1);
  assert.match(notices(page), /This item is no longer reserved for you\./);
  page.press("1");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
  reply = HELD;
  moves(page);
  for (let second = 0; second < 60; second += 1) await page.passes(1000); // the submission is tried again meanwhile
  assert.doesNotMatch(notices(page), /no longer reserved/);
});

test("an item that has waited is asked about when it is shown", async () => {
  const page = await opens();
  const item = JSON.parse(page.find("#assignment").textContent);
  const next = { ...item, id: "item-2", shows: { ...item.shows, question: "the next one?" } };
  const first = await opens({ "POST /submit/": { annotation: { id: "a" }, next: null }, "POST /next/": next, "POST /item-2/ping/": LOST });
  await first.passes(5 * MINUTE);
  first.press("1");
  for (let turn = 0; turn < 3; turn += 1) await first.passes(1);
  assert.equal(first.find(".question").textContent, "the next one?");
  assert.equal(pings(first).at(-1), "item-2");
  assert.match(notices(first), /This item is no longer reserved for you\./);
});

test("a browser that lacks a feature is told so, asks the server nothing, and has the form without scripts", async () => {
  const { any } = AbortSignal;
  AbortSignal.any = undefined;
  try {
    const page = await opens();
    assert.match(page.find("main > .notice[role=alert]").textContent, /This browser is too old for this page\. Use Chrome or Edge \d+, Firefox \d+, Safari [\d.]+, or a newer version\./);
    assert.deepEqual(page.server.requests, []);
    assert.equal(page.find("askew-annotate").hasAttribute("data-ready"), false);
    page.press("1");
    await page.passes(MINUTE);
    assert.deepEqual(page.server.requests, []);
  } finally {
    AbortSignal.any = any;
  }
  assert.equal((await opens()).all("main > .notice[role=alert]").length, 0);
});
