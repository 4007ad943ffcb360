/* Questions to managers from the page of an item. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const notices = (page) => page.find("[data-notices]").textContent.replace(/\s+/g, " ").trim();

async function asking(replies) {
  const page = await openPage("annotate/question_type", { replies: {
    "POST /next/": { status: 204 }, "PUT /draft/": { revision: 1, violations: [] }, ...replies,
  } });
  page.press("q");
  await page.settled();
  return page;
}

test("a question is sent by keys, and the item stays", async () => {
  const page = await asking({ "POST /ask/": { status: 204 } });
  const question = page.find(".question").textContent;
  assert.equal(page.focused.name, "ask_text");
  page.press("Control+Enter");
  await page.settled();
  assert.match(notices(page), /Enter a question\./);
  assert.deepEqual(page.server.sent("POST", "/ask/"), []);
  page.press("1", "2"); // letters of the question are no answers
  page.fill(page.focused, " Is a year a number? 1 or 2? ");
  page.press("Control+Enter");
  await page.settled();
  assert.match(notices(page), /Question sent\./);
  assert.deepEqual(page.server.sent("POST", "/ask/").map(({ body }) => body), [{ text: "Is a year a number? 1 or 2?" }]);
  assert.deepEqual(page.server.sent("POST", "/submit/"), []);
  assert.equal(page.find(".question").textContent, question);
  assert.equal(page.find("[name=ask_text]").value, "");
  assert.equal(page.find("details[data-panel=ask]").open, false);
});

test("a question that cannot be sent stays in its field", async () => {
  const page = await asking({ "POST /ask/": { status: 503, body: {} } });
  page.fill(page.focused, "Why?");
  page.press("Control+Enter");
  await page.settled();
  assert.match(notices(page), /The server is temporarily unavailable\. Nothing is lost\./);
  assert.equal(page.find("[name=ask_text]").value, "Why?");
  assert.equal(page.find("details[data-panel=ask]").open, true);
});

test("the list of keys names questions", async () => {
  const page = await asking({});
  page.press("Escape", "?");
  await page.settled();
  assert.match(page.find("dialog[open]").textContent, /Ask the managers/);
});
