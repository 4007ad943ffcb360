/* The preview of a batch: items are judged and never saved. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { data, openPage } from "./page.js";

const REPLIES = data("managers/judged");

test("a batch is tried by keys, and nothing is sent but responses to be judged", async () => {
  const page = await openPage("managers/tried", { scripts: ["askew/annotate.js"], replies: { "POST /try/": ({ body }) => REPLIES[body.number - 1] } });
  const feedback = page.find("[data-feedback]");
  for (const number of [1, 2, 3, 4]) {
    assert.match(page.find("[data-progress-text]").textContent, new RegExp(`${number - 1} of 4`));
    assert.equal(feedback.hidden, true);
    page.press("1");
    await page.settled();
    assert.equal(feedback.hidden, false);
    assert.equal(page.find(".feedback .verdict").textContent, "Meets the rules");
    if (number === 4) break;
    page.press("Enter");
    await page.settled();
  }
  const left = [];
  globalThis.location = { assign: (address) => left.push(address) };
  page.press("Enter");
  assert.deepEqual(left, [page.find("askew-annotate").dataset.done]);
  assert.match(left[0], /^\/batches\/\w+\/$/);
  assert.deepEqual(page.server.requests.map(({ method, body }) => [method, body.number, body.response.data.label]),
    [1, 2, 3, 4].map((number) => ["POST", number, "extraction"]));
});
