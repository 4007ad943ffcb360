/* <askew-grid>: text is found in a table, and the table is shown larger or smaller. The browser keeps its own keys. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openGrid } from "./grid.js";

const bar = (grid) => grid.page.find(".find-bar");
const current = (grid) => grid.page.find(".hit.now").textContent;

/* Whether a script takes the key from the browser. */
function isTaken(grid, key, target = grid.focused) {
  const { KeyboardEvent } = grid.page.window;
  return !target.dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey: true, bubbles: true, cancelable: true }));
}

test("matches are counted, highlighted and gone through", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.press("Control+f");
  grid.types("AN"); // Canada, Adeyemi-Brandt, Germany, Tanaka, Japan: whatever the case
  assert.ok(bar(grid).textContent.includes("1 of 5 matches"));
  assert.equal(grid.count(".hit"), 5);
  assert.equal(current(grid), "Canada");
  grid.press("Enter");
  assert.equal(current(grid), "Adeyemi-Brandt");
  grid.press("Shift+Enter", "Shift+Enter");
  assert.ok(bar(grid).textContent.includes("5 of 5 matches"));
  grid.press("F3");
  assert.equal(current(grid), "Canada");
  grid.button("Next match").click();
  assert.equal(current(grid), "Adeyemi-Brandt");
  bar(grid).querySelector("input").focus();
  grid.press("Escape");
  assert.equal(bar(grid).hidden, true);
  assert.equal(grid.focused, grid.cell("r3", "c0")); // where it was found
  assert.equal(grid.count(".hit"), 0);
  assert.deepEqual(grid.operations, []);
});

test("the browser's own search opens the second time", async () => {
  const grid = await openGrid();
  grid.show({ mode: "select" });
  assert.equal(isTaken(grid, "f"), true);
  assert.equal(bar(grid).hidden, false);
  assert.equal(isTaken(grid, "f"), false);
  assert.equal(bar(grid).hidden, false);
});

test("a slash finds where letters do not write, and writes where they do", async () => {
  const grid = await openGrid();
  grid.show({ mode: "select" });
  grid.press("/");
  grid.types("olsson");
  grid.press("Escape", "Space");
  assert.deepEqual(grid.element.cells, [["r2", "c0"]]);
  grid.show({ mode: "edit" });
  grid.press("/");
  assert.equal(grid.page.find("textarea.editor").value, "/");
  assert.equal(bar(grid).hidden, true);
});

test("accents and blanks do not matter, and headers are found", async () => {
  const grid = await openGrid();
  grid.show({ table: { header: ["Überschrift", "b"], rows: [["Čeněk\u00a0Novák", "x"], ["Zoë", "y"]] }, mode: "structure" });
  for (const [text, match] of [["cenek novak", "Čeněk\u00a0Novák"], ["uber", "Überschrift"], ["zoe", "Zoë"]]) {
    grid.press("Control+f");
    grid.types(text);
    assert.equal(current(grid), match);
    grid.press("Escape");
  }
  assert.deepEqual(grid.element.here, { row: "r1", column: "c0" });
});

test("a match in a row that is not painted yet becomes the current cell", async () => {
  const grid = await openGrid();
  grid.show({ table: { header: ["a", "b"], rows: Array.from({ length: 1200 }, (_, row) => [`row ${row}`, `${row}`]) }, mode: "select" });
  grid.press("/");
  grid.types("row 1100");
  assert.equal(current(grid), "row 1100");
  grid.press("Escape");
  assert.equal(grid.focused, grid.cell("r1100", "c0"));
});

test("another text is searched in the whole table again", async () => {
  const grid = await openGrid();
  grid.show({ mode: "select" });
  grid.press("/");
  grid.types("olsson");
  bar(grid).querySelector("input").select();
  grid.types("an");
  assert.ok(bar(grid).textContent.includes("of 5 matches"));
});

test("matches follow when the table changes", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.press("Control+f");
  grid.types("olsson");
  assert.equal(grid.count(".hit"), 1);
  grid.click(grid.cell("r0", "c0"));
  grid.types("Olsson");
  grid.press("Enter");
  assert.equal(grid.count(".hit"), 2);
  assert.ok(bar(grid).textContent.includes("2 matches"));
});

test("a table has five sizes, and the next page remembers the last one", async () => {
  const grid = await openGrid();
  const size = () => grid.element.style.getPropertyValue("--zoom");
  grid.show({ mode: "select" });
  assert.equal(size(), "1");
  grid.press("Control++");
  grid.reads("125 %");
  assert.equal(size(), "1.25");
  grid.press("Control+=");
  grid.reads("150 %");
  const larger = grid.page.find("[data-menu=larger]");
  assert.equal(larger.getAttribute("aria-disabled"), "true");
  grid.press("Control+0");
  assert.equal(size(), "1");
  assert.equal(larger.getAttribute("aria-disabled"), "false");
  const smaller = grid.page.find("[data-menu=smaller]");
  smaller.click();
  grid.reads("87 %");
  smaller.click();
  grid.reads("75 %");
  assert.equal(size(), "0.75");
  const storage = { ...grid.page.window.localStorage };

  const again = await openGrid({ storage });
  again.show({ mode: "read" });
  again.reads("75 %");
  assert.equal(again.element.style.getPropertyValue("--zoom"), "0.75");
});

test("at the largest size, the key is the browser's again", async () => {
  const grid = await openGrid();
  grid.show({ mode: "read" });
  assert.deepEqual([1, 2, 3].map(() => isTaken(grid, "+", grid.page.find(".sheet"))), [true, true, false]);
});

test("another table ends a search, and the same one with other changes goes on with it", async () => {
  const grid = await openGrid();
  const [first, next] = [{ header: ["City"], rows: [["Berlin"], ["Bern"]] }, { header: ["City"], rows: [["Paris"], ["Lima"]] }];
  grid.show({ mode: "edit", table: first });
  grid.press("Control+f");
  grid.types("ber");
  assert.equal(grid.count(".hit"), 2);
  grid.show({ mode: "edit", table: first, operations: [{ op: "set_cell", row: "r0", column: "c0", old: "Berlin", new: "Rome" }] });
  assert.equal(bar(grid).hidden, false);
  assert.equal(grid.count(".hit"), 1);
  grid.show({ mode: "edit", table: next });
  assert.equal(bar(grid).hidden, true);
  assert.equal(grid.count(".hit"), 0);
  grid.press("Control+f");
  assert.equal(grid.focused.value, "");
  grid.types("paris");
  assert.ok(bar(grid).textContent.includes("1 of 1 match"));
  assert.equal(current(grid), "Paris");
});
