/* <askew-annotate>: the loop of an annotator. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { data, openPage } from "./page.js";

const SUBMITTED = data("annotate/submitted_question_type");

test("a key answers the item and shows the next one without a page load", async () => {
  const page = await openPage("annotate/question_type", { replies: {
    "POST /next/": { status: 204 }, "POST /submit/": { status: 201, body: SUBMITTED }, "PUT /draft/": { revision: 1, violations: [] },
  } });
  assert.equal(page.find(".question").textContent, "when did Heat come out (0)?");
  page.press("1");
  await page.settled();
  assert.equal(page.find(".question").textContent, SUBMITTED.next.shows.question);
  assert.equal(page.server.sent("POST", "/submit/")[0].body.response.data.label, "extraction");
});
