/* The preview of a task type: fields come and go with their conditions. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

test("a field of the preview appears when its condition holds", async () => {
  const page = await openPage("managing/definition", { scripts: ["askew/definition-preview.js"] });
  const reason = page.find("[data-field=reason]");
  const option = (value) => [...page.all("[data-field=answerable] input")].find((input) => input.value === value);
  assert.equal(reason.hidden, true);
  page.click(option("no"));
  assert.equal(reason.hidden, false);
  page.click(option("yes"));
  assert.equal(reason.hidden, true);
});
