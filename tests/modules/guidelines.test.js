/* The search in the guidelines, whose module is fetched when it is first wanted. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const FIELD = "[data-guidelines] [data-search] input";

/* A page beside guidelines that have a word three times. */
async function opens() {
  const page = await openPage("annotate/question_type", { replies: { "GET /next/": { status: 204 } } });
  page.find("[data-guidelines] .prose").innerHTML = "<p>zebra one</p><p>zebra two</p><p>zebra three</p>";
  return page;
}

const current = (page) => page.find("[data-guidelines] mark[aria-current]").closest("p").textContent;

test("what is typed and pressed before the search has come is done once it is there", async () => {
  const page = await opens();
  page.find("[data-guidelines] .prose").focus();

  page.press("/");
  assert.equal(page.focused, page.find(FIELD), "the field takes what is typed at once");
  for (const text of ["z", "zeb", "zebra"]) page.fill(FIELD, text);
  page.press("Enter");

  assert.deepEqual(page.all("[data-guidelines] mark"), [], "the module is on its way");
  await page.settled();
  assert.equal(page.find(FIELD).value, "zebra");
  assert.equal(page.all("[data-guidelines] mark").length, 3);
  assert.equal(current(page), "zebra two");
  assert.equal(page.find("[data-count]").textContent, "2 of 3");
  assert.deepEqual(page.server.sent("POST", "/submit/"), [], "Enter is for the search alone");
});

test("a search that is left before it has come marks nothing", async () => {
  const page = await opens();

  page.fill(FIELD, "zebra");
  page.press("Escape");
  await page.settled();

  assert.equal(page.find(FIELD).value, "");
  assert.deepEqual(page.all("[data-guidelines] mark"), []);
  assert.ok(page.find("[data-guidelines]").open);
});

test("Enter and Shift Enter go from match to match, and Escape goes back to the text", async () => {
  const page = await opens();
  page.fill(FIELD, "zebra");
  await page.settled();
  assert.equal(current(page), "zebra one");

  page.press("Shift+Enter");
  await page.settled();
  assert.equal(current(page), "zebra three");
  page.press("Enter");
  await page.settled();
  assert.equal(current(page), "zebra one");

  page.press("Escape");
  await page.settled();
  assert.deepEqual(page.all("[data-guidelines] mark"), []);
  assert.equal(page.focused, page.find("[data-guidelines] .prose"));
});
