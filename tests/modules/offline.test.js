/* A submission that the server does not answer: it stays wanted, the page says that it is not submitted, and it is sent again. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, hasLeft, openLive, platform, reload, stopClock } from "./live.js";

const REST = 301; // ms after which digits act again and a draft is sent
const GONE = new TypeError("the connection fails");

/* The first of four questions, from a server that can be out of reach, wholly or for submissions alone. */
async function begin() {
  stopClock();
  const server = { isOut: false, refuses: null };
  const replies = Object.fromEntries(["GET /api/", "POST /api/", "PUT /api/"].map((key) => [key, (request) => (server.isOut ? GONE : platform(request))]));
  const options = { replies: { ...replies, "POST /submit/": (request) => (server.isOut ? GONE : server.refuses ?? platform(request)) } };
  const page = await openLive("judging/batch", { kind: "question_type", overlap: 1 }, options);
  await page.passes(REST);
  return { page, server, options };
}

async function passes(page, milliseconds) {
  for (let left = milliseconds; left > 0; left -= 100) await page.passes(100);
}

async function press(page, key) {
  page.press(key);
  await page.settled();
  await passes(page, REST);
}

const question = (page) => page.find(".question").textContent;
const state = (page) => page.find("[data-saved]").textContent;
const notices = (page) => page.find("[data-notices]").textContent.replace(/\s+/g, " ").trim();
const sent = (page) => page.server.sent("POST", "/submit/").length;
const tryNow = (page) => page.all("[data-notices] button").find(({ textContent }) => textContent === "Try now");
const labels = async () => (await ask("judging/submitted")).map(({ label }) => label);

test("a label pressed offline says that it is not submitted, and is submitted when the server answers", async () => {
  const { page, server } = await begin();
  const first = question(page);
  server.isOut = true;
  await press(page, "1");
  assert.equal(question(page), first);
  assert.equal(state(page), "Saved, not submitted");
  assert.match(notices(page), /^The server cannot be reached\. Your response is stored in this browser and submitted as soon as the server answers\. Retrying in \d s Try now$/);
  await passes(page, 60_000);
  assert.equal(state(page), "Saved, not submitted");
  server.isOut = false;
  await passes(page, 31_000);
  assert.notEqual(question(page), first);
  assert.deepEqual(await labels(), ["extraction"]);
  assert.match(state(page), /Previous item submitted\./);
  assert.equal(notices(page), "");
});

test("what is saved and not submitted is called that, until it is submitted", async () => {
  const { page, server } = await begin();
  const first = question(page);
  server.refuses = { status: 503, body: {} };
  await press(page, "1");
  await passes(page, 1500);
  assert.equal(state(page), "Saved, not submitted");
  assert.match(notices(page), /Try now/, "it stays although the draft is saved");
  assert.deepEqual(await labels(), []);
  server.refuses = null;
  page.click(tryNow(page));
  await passes(page, 300);
  assert.notEqual(question(page), first);
  assert.deepEqual(await labels(), ["extraction"]);
});

test("the seconds count down, and the button tries at once", async () => {
  const { page, server } = await begin();
  server.isOut = true;
  await press(page, "1");
  await passes(page, 60_000);
  const seconds = () => Number(/Retrying in (\d+) s/.exec(notices(page))[1]);
  const before = seconds();
  const tries = sent(page);
  await passes(page, 1000);
  assert.ok([before - 1, 30].includes(seconds()), `${before} s, then ${seconds()} s`);
  page.click(tryNow(page));
  await passes(page, 100);
  assert.ok(sent(page) > tries);
  assert.equal(seconds(), 30);
});

test("the network that comes back submits at once", async () => {
  const { page, server } = await begin();
  server.isOut = true;
  await press(page, "1");
  await passes(page, 20_000);
  server.isOut = false;
  page.window.dispatchEvent(new page.window.Event("online"));
  await passes(page, 300);
  assert.deepEqual(await labels(), ["extraction"]);
});

test("a submission whose answer was lost is stored once", async () => {
  const { page } = await begin();
  const first = question(page);
  let losses = 1;
  page.server.replies["POST /submit/"] = async (request) => {
    const reply = await platform(request);
    return (losses -= 1) >= 0 ? GONE : reply;
  };
  page.press("1");
  await page.settled();
  assert.match(state(page), /^Saved, not submitted/);
  await passes(page, 3000);
  assert.notEqual(question(page), first);
  assert.deepEqual(await labels(), ["extraction"]);
});

/* The first question, whose submission "1" has arrived without an answer. */
async function lose() {
  const { page, server } = await begin();
  const first = question(page);
  let losses = 1;
  page.server.replies["POST /submit/"] = async (request) => {
    const reply = await platform(request);
    return (losses -= 1) >= 0 ? GONE : reply;
  };
  page.press("1");
  await page.settled();
  assert.deepEqual(await labels(), ["extraction"]);
  assert.match(state(page), /^Saved, not submitted/);
  return { page, server, first };
}

test("a label chosen after one whose answer was lost is the one that is submitted", async () => {
  const { page, first } = await lose();
  await press(page, "2");
  await passes(page, 2000);
  assert.notEqual(question(page), first);
  assert.deepEqual(await ask("judging/standing"), ["reasoning"]);
  assert.equal(notices(page), "");
});

test("a response changed after one whose answer was lost is a draft, as the page says, until it is submitted", async () => {
  const { page, first } = await lose();
  page.click(page.find("[data-unsure]"));
  await passes(page, 3000);
  assert.equal(question(page), first);
  assert.match(state(page), /^Saved /);
  assert.deepEqual(await ask("judging/standing"), []);
  await press(page, "2");
  assert.deepEqual(await ask("judging/standing"), ["reasoning"]);
});

test("an item skipped after a submission whose answer was lost is skipped", async () => {
  const { page, first } = await lose();
  page.click("input[name=skip_reason]");
  page.click("button[value=skip]");
  await passes(page, 2000);
  assert.notEqual(question(page), first);
  assert.deepEqual(await ask("judging/standing"), []);
});

test("a later choice that cannot be sent yet is sent later", async () => {
  const { page, first } = await lose();
  let losses = 2;
  page.server.replies["POST /undo/"] = (request) => ((losses -= 1) >= 0 ? GONE : platform(request));
  await press(page, "2");
  assert.equal(question(page), first);
  assert.equal(state(page), "Not saved");
  assert.match(notices(page), /Retrying in \d s Try now/);
  await passes(page, 10_000);
  assert.notEqual(question(page), first);
  assert.deepEqual(await ask("judging/standing"), ["reasoning"]);
});

test("a later choice that comes too late is said to be too late", async () => {
  const { page, first } = await lose();
  await ask("judging/decide");
  await press(page, "2");
  await passes(page, 2000);
  assert.equal(question(page), first);
  assert.match(notices(page), /This item is already decided\. Your entries are stored in this browser\./);
  assert.deepEqual(await ask("judging/standing"), ["extraction"]);
});

test("a changed response is not submitted by itself, and the new one is when it is wanted", async () => {
  const { page, server } = await begin();
  const first = question(page);
  server.isOut = true;
  await press(page, "1");
  const unsure = page.find("[data-unsure]");
  page.click(unsure);
  await passes(page, 2000);
  server.isOut = false;
  await passes(page, 40_000);
  assert.equal(question(page), first);
  assert.deepEqual(await labels(), []);
  assert.match(state(page), /^Saved /);
  await press(page, "2");
  assert.deepEqual(await labels(), ["reasoning"]);
});

test("what is refused when the server answers stays, and says why", async () => {
  const { page, server } = await begin();
  server.isOut = true;
  await press(page, "1");
  await ask("judging/close");
  server.isOut = false;
  await passes(page, 5000);
  assert.match(notices(page), /This batch is closed\. Your draft is saved under “My work”\./);
  assert.doesNotMatch(notices(page), /as soon as the server answers/);
  assert.match(state(page), /Saved/);
  assert.ok(!hasLeft(page));
});

test("a page that is loaded anew says what was not submitted", async () => {
  const { page, server, options } = await begin();
  server.isOut = true;
  await press(page, "1");
  const session = { ...page.window.sessionStorage };
  server.isOut = false;
  const again = await reload(page, undefined, { ...options, session });
  assert.match(notices(again), /Your response is not submitted\. Submit/);
  again.click(again.all("[data-notices] button").find(({ textContent }) => textContent === "Submit"));
  await passes(again, 400);
  assert.deepEqual(await labels(), ["extraction"]);
});

test("the next saved draft says that the batch is closed, and saving goes on", async () => {
  const { page } = await begin();
  await ask("judging/close");
  page.click("[data-unsure]");
  await passes(page, 1000);
  assert.match(notices(page), /^This batch is closed\. Your draft is saved under “My work” and cannot be submitted\.$/);
  assert.match(state(page), /^Saved/);
  await ask("judging/reopen");
  page.click("[data-unsure]");
  await passes(page, 1000);
  assert.equal(notices(page), "");
});

test("what is changed while an earlier submission cannot be withdrawn yet is stored in the browser, as the page says", async () => {
  const { page, first } = await lose();
  let losses = 2;
  page.server.replies["POST /undo/"] = (request) => ((losses -= 1) >= 0 ? GONE : platform(request));
  const unsure = () => Object.entries({ ...page.window.localStorage })
    .filter(([key]) => key.startsWith("askew:draft:")).map(([, text]) => Boolean(JSON.parse(text).response.unsure));
  page.click(page.find("[data-unsure]"));
  await passes(page, 400);
  assert.match(notices(page), /Your entries are stored in this browser/);
  assert.deepEqual(unsure(), [true]);

  page.click(page.find("[data-unsure]"));

  assert.deepEqual(unsure(), [false]);
  await passes(page, 10_000);
  assert.equal(question(page), first);
  assert.match(state(page), /^Saved /);
  assert.deepEqual(await ask("judging/standing"), []);
});
