/* The explorer: selected items, and the files of their responses. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const open = () => openPage("managers/explorer", { scripts: ["askew/explorer.js"] });
const boxes = (page) => page.all("input[name=item]");
const everything = (page) => page.find("#act input[name=all]");

const bar = (page) => (page.find("#act").hidden ? "" : page.find("[data-count]").textContent);

const csv = (page) => new URL(page.all(".exports a[download]").find((link) => link.textContent === "CSV").href);

test("all items that match are selected, one less is, and none is", async () => {
  const page = await open();
  assert.equal(bar(page), "");
  page.click(boxes(page)[0]);
  assert.equal(bar(page), "1 selected");
  assert.equal(page.find("[data-all-here]").indeterminate, true);
  page.click(everything(page));
  assert.equal(bar(page), "4 selected");
  assert.deepEqual(boxes(page).map((box) => box.checked), [true, true, true, true]);
  assert.equal(page.find("[data-all-here]").checked, true);
  page.click(boxes(page)[3]);
  assert.equal(bar(page), "3 selected");
  assert.equal(everything(page).checked, false);
  page.click(everything(page));
  page.click("[data-clear]");
  assert.equal(bar(page), "");
  assert.equal(everything(page).checked, false);
  assert.deepEqual(boxes(page).map((box) => box.checked), [false, false, false, false]);
});

test("keys move from item to item and select one, or all up to it", async () => {
  const page = await open();
  page.press("j", "x", "j", "ArrowDown", "ArrowDown", "k", "Shift+X");
  assert.equal(page.focused.textContent, page.all("[data-item]")[2].textContent);
  assert.deepEqual(boxes(page).map((box) => box.checked), [true, true, true, false]);
  page.press("x");
  assert.equal(bar(page), "2 selected");
  page.press("a");
  assert.equal(page.focused.textContent, "Exclude…");
  assert.equal(page.find("#act details").open, true);
});

test("the box in the header selects the items of the page", async () => {
  const page = await open();
  page.click("[data-all-here]");
  assert.equal(bar(page), "4 selected");
  assert.equal(everything(page).checked, false);
  page.click(everything(page));
  page.click("[data-all-here]");
  assert.equal(bar(page), "");
  assert.equal(everything(page).checked, false);
});

test("a box that is clicked with Shift selects all up to it", async () => {
  const page = await open();
  page.click(boxes(page)[1]);
  boxes(page)[3].dispatchEvent(new MouseEvent("click", { shiftKey: true, bubbles: true, cancelable: true }));
  assert.deepEqual(boxes(page).map((box) => box.checked), [false, true, true, true]);
});

test("the files are of the selected items, or of all that match", async () => {
  const page = await open();
  const whole = csv(page).href;
  const label = page.find("[data-exported]").textContent;
  page.click(boxes(page)[0]);
  page.click(boxes(page)[2]);
  assert.equal(page.find("[data-exported]").textContent, "Download the responses, 2 selected:");
  assert.deepEqual([...csv(page).searchParams], [["item", boxes(page)[0].value], ["item", boxes(page)[2].value], ["format", "csv"]]);
  assert.equal(csv(page).pathname, new URL(whole).pathname);
  page.click(everything(page));
  assert.equal(csv(page).href, whole);
  assert.equal(page.find("[data-exported]").textContent, label);
});
