/* <askew-annotate>: what happens in the middle of an item, as the server's refusals report it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { data, openPage } from "./page.js";

const NEXT = data("annotate/submitted_question_type").next;

/* The page of an item, with another one fetched ahead, whose submission is refused. */
async function refused(problem) {
  const page = await openPage("annotate/question_type", { replies: {
    "POST /next/": NEXT, "POST /submit/": { status: 409, body: problem }, "PUT /draft/": { revision: 1, violations: [] },
  } });
  page.press("1");
  await page.settled();
  return page;
}

const noticed = (page) => page.find("[data-notices]").textContent.replace(/\s+/g, " ").trim();

test("a batch that closes in the middle of an item keeps what was entered as a draft", async () => {
  const page = await refused({ code: "batch_closed", detail: "No." });
  assert.match(noticed(page), /^This batch is closed\. Your draft is saved under “My work”\./);
  assert.match(noticed(page), /Go to the next item/);
  assert.equal(page.server.sent("PUT", "/draft/").at(-1).body.response.data.label, "extraction");
  assert.equal(page.find(".question").textContent, "when did Heat come out (0)?");
});

test("a draft that cannot be stored either stays in the browser", async () => {
  const page = await openPage("annotate/question_type", { replies: {
    "POST /next/": NEXT, "POST /submit/": { status: 409, body: { code: "batch_closed" } }, "PUT /draft/": { status: 409, body: { code: "batch_closed" } },
  } });
  page.press("1");
  await page.settled();
  assert.match(noticed(page), /This batch is closed\. Your entries are stored in this browser\./);
  assert.equal(page.find("[data-saved]").textContent, "Not saved");
});

test("somebody who was removed in the middle of an item reads why, and the item stays", async () => {
  const detail = "You are no longer a member of this project. Your saved work is kept.";
  const page = await refused({ code: "no_member", detail });
  assert.equal(noticed(page), detail);
  assert.equal(page.find(".question").textContent, "when did Heat come out (0)?");
});
