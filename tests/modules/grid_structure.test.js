/* <askew-grid>, structure: rows and columns are removed and restored, and what is protected says why it stays. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./page.js";
import { openGrid } from "./grid.js";

const EVIDENCE = { protected: [["r2", "c2", "evidence"]], marks: [["r2", "c2"]] };
const removed = (grid) => grid.operations.map(({ op, row, column }) => `${op} ${row ?? column}`);
const removals = (what, ids) => ids.map((id) => `remove_${what} ${id}`);

async function structuring(options) {
  const grid = await openGrid();
  grid.show({ mode: "structure", ...options });
  return grid;
}

test("X removes the row, in the header the column, and restores them", async () => {
  const grid = await structuring();
  grid.press("x");
  grid.hears("Row 1 removed.");
  assert.deepEqual(grid.page.all("tr.removed").map(({ dataset }) => dataset.row), ["r0"]);
  assert.ok(grid.number("r0").textContent.includes("removed"));
  grid.press("ArrowUp", "ArrowRight", "x");
  grid.hears("Column Country removed.");
  assert.ok(grid.header("c1").textContent.includes("removed"));
  assert.equal(grid.cell("r4", "c1").className, "removed");
  assert.deepEqual(removed(grid), ["remove_row r0", "remove_column c1"]);
  assert.deepEqual(grid.operations[1].old, ["Country", "Nigeria", "Sweden", "Germany", "Japan"]);
  grid.press("ArrowDown", "x"); // the removed row: it is restored, and the column is still whole
  grid.hears("Row 1 restored.");
  assert.deepEqual(removed(grid), ["remove_column c1"]);
  assert.equal(grid.operations[0].old.length, 6);
  grid.press("Alt+Shift+Delete");
  grid.hears("Column Country restored.");
  assert.deepEqual(removed(grid), []);
  grid.press("Control+z", "Control+z", "Control+z", "Control+z", "Control+y");
  assert.deepEqual(removed(grid), ["remove_row r0"]);
  assert.deepEqual(new Set(grid.heard()), new Set(["grid-change"]));
});

test("a range of rows or of columns is removed at once", async () => {
  const grid = await structuring();
  grid.press("Shift+ArrowDown", "Shift+ArrowDown", "Delete");
  assert.deepEqual(removed(grid), removals("row", ["r0", "r1", "r2"]));
  grid.press("Control+z", "Control+Home", "ArrowUp", "Shift+ArrowRight", "x");
  assert.deepEqual(removed(grid), removals("column", ["c0", "c1"]));
  grid.press("Control+z", "Control+Home", "Shift+ArrowRight", "Alt+Shift+Delete");
  assert.deepEqual(removed(grid), removals("column", ["c0", "c1"]));
  grid.button("Undo all").click();
  assert.deepEqual(removed(grid), []);
});

test("K keeps what is chosen by keys and nothing else", async () => {
  const grid = await structuring();
  grid.press("Shift+Space", "ArrowDown", "ArrowDown", "Shift+Space");
  grid.hears("Row 3 chosen. 2 rows chosen.");
  grid.press("ArrowRight", "ArrowRight", "Control+Space");
  grid.reads("2 rows and 1 column chosen.");
  assert.notEqual(grid.count(".area.chosen"), 0);
  grid.press("k");
  grid.hears("2 rows and 1 column kept, the others removed.");
  grid.reads("2 rows, 1 column kept");
  assert.deepEqual(removed(grid), [...removals("row", ["r1", "r3", "r4"]), ...removals("column", ["c0", "c1", "c3"])]);
  assert.deepEqual(grid.element.edited.rows, [["15"], ["4"]]);
  grid.press("Control+z");
  assert.deepEqual(removed(grid), []); // one step
  grid.press("Control+Home", "Shift+ArrowDown", "Shift+ArrowRight", "k"); // without a choice: the range
  assert.deepEqual(grid.element.edited.rows, [["Leslie", "Canada"], ["Nwosu", "Nigeria"]]);
});

test("clicks on row numbers and headers choose what is kept, and Escape takes the choice back", async () => {
  const grid = await structuring();
  for (const target of [grid.number("r1"), grid.number("r3"), grid.header("c0"), grid.header("c2")]) grid.click(target);
  grid.reads("2 rows and 2 columns chosen.");
  grid.click(grid.button("Keep only these"));
  assert.deepEqual(grid.element.edited.rows, [["Nwosu", "1,212"], ["Adeyemi-Brandt", "97"]]);
  grid.click(grid.number("r0"));
  grid.press("Escape");
  grid.hears("Nothing selected.");
  assert.equal(grid.count(".area"), 0);
});

test("what is protected stays and says why", async () => {
  const grid = await structuring(EVIDENCE);
  grid.press("ArrowDown", "ArrowDown", "x");
  grid.hears("Row 3 cannot be removed: Row 3, Votes is protected (evidence).");
  grid.reads("Row 3 cannot be removed: Row 3, Votes is protected (evidence).");
  grid.press("ArrowRight", "ArrowRight", "Alt+Shift+Delete");
  grid.hears("Column Votes cannot be removed: Row 3, Votes is protected (evidence).");
  assert.deepEqual(removed(grid), []);
  assert.ok(grid.cell("r2", "c2").classList.contains("kept"));
  grid.press("Control+Home", "Shift+ArrowDown", "k"); // what would be kept is elsewhere
  grid.hears("2 rows and 1 column kept, the others removed. Row 3 cannot be removed:");
  assert.deepEqual(grid.element.edited.rows, [["Leslie", "15"], ["Nwosu", "1,212"], ["Olsson", "4"]]);
});

test("only what is allowed can be removed", async () => {
  const grid = await structuring({ allowed: ["remove_row"] });
  grid.press("ArrowUp", "x");
  grid.hears("Columns cannot be removed here.");
  grid.press("ArrowDown", "Shift+Space", "k");
  assert.deepEqual(removed(grid), removals("row", ["r1", "r2", "r3", "r4"]));
});

test("where only columns may be removed, every sentence is about columns", async () => {
  const grid = await structuring({ allowed: ["remove_column"] });
  assert.equal(grid.page.find("[role=grid]").getAttribute("aria-label"), "Table, columns can be removed");
  const button = grid.page.find("[data-tool=remove]");
  assert.ok(button.textContent.includes("Remove column"));
  grid.press("ArrowDown", "ArrowRight", "x");
  grid.hears("Column Country removed.");
  assert.ok(button.textContent.includes("Restore column"));
  grid.press("Shift+Space");
  grid.hears("Rows cannot be removed here.");
  grid.press("x", "Space", "ArrowRight", "Space");
  grid.hears("Column Votes chosen. 2 columns chosen.");
  grid.press("k");
  grid.hears("2 columns kept, the others removed.");
  assert.deepEqual(removed(grid), removals("column", ["c0", "c3"]));
  grid.press("Control+z", "Control+Home", "k"); // nothing is chosen: the current column
  assert.deepEqual(removed(grid), removals("column", ["c1", "c2", "c3"]));
  const { gridKeys } = await load("askew/grid-keys.js");
  const keys = gridKeys("structure", ["remove_column"]).map(([, words]) => words).join(" ");
  assert.equal(/\brows?\b/.test(keys), false);
  assert.ok(keys.includes("remove or restore the column"));
});

test("where only rows may be removed, the header offers nothing", async () => {
  const grid = await structuring({ allowed: ["remove_row"] });
  const button = grid.page.find("[data-tool=remove]");
  assert.ok(button.textContent.includes("Remove row"));
  grid.press("ArrowUp");
  assert.ok(button.textContent.includes("Remove row"));
  assert.equal(button.getAttribute("aria-disabled"), "true");
  button.click();
  assert.equal(grid.page.find(".told").textContent, ""); // a disabled button does nothing
  grid.element.focusCell();
  grid.press("Control+Space");
  grid.hears("Columns cannot be removed here.");
  grid.press("Space", "k");
  assert.deepEqual(removed(grid), []);
  grid.press("ArrowDown", "k");
  assert.deepEqual(removed(grid), removals("row", ["r1", "r2", "r3", "r4"]));
});

test("letters do not write, and Enter submits", async () => {
  const grid = await structuring();
  grid.press("a", "5", "Enter");
  assert.equal(grid.count("textarea"), 0);
  assert.deepEqual(removed(grid), []);
  assert.deepEqual(grid.heard(), ["grid-submit"]);
});

test("thousands of rows are removed and restored", async () => {
  const grid = await structuring({ table: { header: ["a", "b"], rows: Array.from({ length: 3000 }, (_, row) => [`${row}`, "x"]) } });
  grid.press("Shift+ArrowDown", "k");
  assert.equal(grid.operations.length, 2999); // with the second column
  grid.rests();
  assert.equal(grid.count("tr.removed"), 2998);
  grid.press("Control+z");
  grid.rests();
  assert.equal(grid.count("tr.removed"), 0);
});

test("a header has a button that removes its row or column and restores it", async () => {
  const grid = await structuring();
  assert.equal(grid.header("c1").getAttribute("aria-label"), "Country");
  assert.equal(grid.number("r2").getAttribute("aria-label"), "3");
  grid.click(grid.button("Remove column Country"));
  grid.hears("Column Country removed.");
  assert.equal(grid.header("c1").getAttribute("aria-label"), "Country, removed");
  assert.equal(grid.focused, grid.header("c1"));
  grid.click(grid.button("Remove row 3"));
  grid.hears("Row 3 removed.");
  assert.equal(grid.number("r2").getAttribute("aria-label"), "3, removed");
  assert.equal(grid.focused, grid.cell("r2", "c1"));
  assert.deepEqual(removed(grid), ["remove_row r2", "remove_column c1"]);
  grid.press("x"); // keys go on where the button was
  grid.hears("Row 3 restored.");
  grid.click(grid.button("Restore column Country"));
  assert.deepEqual(removed(grid), []);
});

test("a double click on the button of a header removes once", async () => {
  const grid = await structuring();
  grid.click(grid.number("r0").querySelector("button"), { times: 2 });
  assert.deepEqual(removed(grid), ["remove_row r0"]);
});

test("the button of a header acts for itself, whatever is chosen", async () => {
  const grid = await structuring();
  grid.press("Shift+Space", "ArrowDown", "Shift+Space");
  grid.click(grid.number("r1").querySelector("button"));
  assert.deepEqual(removed(grid), ["remove_row r1"]);
  grid.press("k");
  assert.deepEqual(removed(grid), removals("row", ["r1", "r2", "r3", "r4"]));
});

test("a header has no button for what may not be removed", async () => {
  const grid = await structuring({ allowed: ["remove_row"] });
  assert.equal(grid.number("r0").querySelectorAll("button").length, 1);
  assert.equal(grid.header("c0").querySelector("button"), null);
  grid.show({ mode: "edit" });
  assert.equal(grid.count("th button"), 0);
  grid.show({ mode: "structure", ...EVIDENCE });
  grid.click(grid.number("r2").querySelector("button"));
  grid.reads("Row 3 cannot be removed");
  assert.deepEqual(removed(grid), []);
});
