/* The harness of these tests itself. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

test("a timer of one page does not reach the next page", async () => {
  await openPage("<p>first</p>");
  setTimeout(() => localStorage.setItem("draft", "of the first page"), 1);
  const page = await openPage("<p>second</p>");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(page.window.localStorage.getItem("draft"), null);
});
