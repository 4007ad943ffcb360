/* The strip of previous items: no click and no fault in it stops it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { hold, openLive, platform, until } from "./live.js";

const IDS = ["nt-3630", "nt-15", "nt-92"];

/* The third item of answer checks, with the strip open. */
async function opens(replies = {}) {
  const page = await openLive("columns/batch", { kind: "answer_check", ids: IDS }, { replies });
  for (const answer of ["one", "two"]) await submits(page, answer);
  page.click("[data-past-button]");
  await until(page, () => lines(page).length === 2);
  return page;
}

async function submits(page, answer) {
  page.fill("textarea[name=answers]", answer);
  page.press("Control+Enter");
  await page.settled();
}

const lines = (page) => page.all("[data-past] ol button");
const isLooking = (page) => page.find("[data-past]").hasAttribute("data-looking");
const question = (page) => page.find(".question").textContent;

test("a click in a list that is asked for anew shows the item that was clicked", async () => {
  const held = hold();
  let isHeld = false;
  const page = await opens({ "GET /history/": (asked) => (isHeld ? held.reply(asked) : platform(asked)) });
  const here = question(page);
  const [newest] = lines(page);
  isHeld = true;
  page.find("button[value=submit]").focus();
  page.find("askew-annotate").past.changed();
  page.click(newest);
  await page.settled();
  assert.equal(isLooking(page), false, "its list is not there yet");
  held.answer();
  await until(page, () => isLooking(page));
  assert.match(page.find("[data-past-words]").textContent, /1 of your last 2\. Your response: .*two/);
  page.press("Escape");
  await until(page, () => !isLooking(page));
  assert.equal(question(page), here);
});

test("a list that was asked for before a submission is not taken after it", async () => {
  const held = hold();
  let isHeld = false;
  const page = await opens({ "GET /history/": (asked) => (isHeld ? held.reply(asked) : platform(asked)) });
  isHeld = true;
  const { past } = page.find("askew-annotate");
  past.changed();
  past.changed();
  await page.settled();
  assert.equal(held.waiting.length, 2);
  held.waiting[0].resolve({ items: [] });
  held.waiting.shift();
  await page.settled();
  assert.equal(lines(page).length, 2, "the earlier reply is no news");
  held.answer();
  await page.settled();
  assert.equal(lines(page).length, 2);
});

test("F goes back from an item whose list has changed since it was asked for", async () => {
  const held = hold();
  let isHeld = false;
  const page = await opens({ "GET /response/": (asked) => (isHeld ? held.reply(asked) : platform(asked)) });
  page.click("[data-past-button]");
  const here = question(page);
  isHeld = true;
  page.find("button[value=submit]").focus();
  page.press("p");
  await until(page, () => held.waiting.length === 1);
  page.find("askew-annotate").past.changed(); // as the reply to a submission does
  held.answer();
  await until(page, () => isLooking(page));
  page.press("f");
  await until(page, () => !isLooking(page));
  assert.equal(question(page), here);
});

for (const [name, key] of [["P", "p"], ["Esc", "Escape"]]) {
  test(`after a step that fails, ${name} acts`, async () => {
    const page = await opens();
    const here = question(page);
    const annotate = page.find("askew-annotate");
    page.find("button[value=submit]").focus();
    page.press("p");
    await until(page, () => isLooking(page));
    annotate.past.lookBack = () => { throw new Error("a fault of a script"); };
    await assert.rejects(annotate.past.step(1), /a fault of a script/);
    delete annotate.past.lookBack;
    page.press(key);
    await until(page, () => (key === "p" ? page.find("[data-past-words]").textContent.startsWith("2 of") : !isLooking(page)));
    if (key === "Escape") assert.equal(question(page), here);
  });
}

const SESSION = {
  items: 3, skipped: 1, minutes: 4.5, minutes_submitted: 3, minutes_skipped: 1, minutes_returned: 0.5,
  per_hour: 40, earned: "1.20 EUR", checks: null, day: null,
};

test("the session tells minutes on responses, skips and returns apart", async () => {
  const page = await openLive("columns/batch", { kind: "answer_check", ids: IDS }, { replies: { "GET /session/": SESSION } });
  page.click("[data-past-button]");
  const line = () => page.find("[data-session]").textContent;
  await until(page, () => line() !== "");
  assert.equal(line(), "This session: 3 items · 4.5 min (responses 3.0, skips 1.0, returns 0.5) · 40 items per hour · 1.20 EUR");
});

test("the session has one sum of minutes where all are on responses", async () => {
  const session = { ...SESSION, minutes: 3, minutes_skipped: 0, minutes_returned: 0 };
  const page = await openLive("columns/batch", { kind: "answer_check", ids: IDS }, { replies: { "GET /session/": session } });
  page.click("[data-past-button]");
  const line = () => page.find("[data-session]").textContent;
  await until(page, () => line() !== "");
  assert.match(line(), /^This session: 3 items · 3 min · 40/);
});
