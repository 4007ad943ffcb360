/* <askew-grid>, select: what is marked is seen, heard and given in the order of the table. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { VOTES, openGrid } from "./grid.js";

const cellsOf = (rows, columns) => rows.flatMap((row) => columns.map((column) => [`r${row}`, `c${column}`]));
const inColumn = (grid, column) => grid.element.cells.filter((cell) => cell[1] === column);
const inRow = (grid, row) => grid.element.cells.filter((cell) => cell[0] === row);
const selected = (element) => element.getAttribute("aria-selected");

async function selecting(options) {
  const grid = await openGrid();
  grid.show({ mode: "select", ...options });
  return grid;
}

test("Space marks a cell and takes the mark away", async () => {
  const grid = await selecting();
  grid.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "Space");
  assert.deepEqual(grid.element.cells, [["r2", "c2"]]);
  grid.hears("Row 3, Votes, marked. 1 cell marked.");
  grid.reads("1 cell marked");
  assert.equal(selected(grid.cell("r2", "c2")), "true");
  assert.ok(grid.cell("r2", "c2").classList.contains("marked"));
  assert.equal(selected(grid.cell("r1", "c2")), "false");
  grid.press("Space");
  assert.deepEqual(grid.element.cells, []);
  grid.hears("Row 3, Votes, no longer marked. 0 cells marked.");
  assert.deepEqual(grid.heard(), ["grid-change", "grid-change"]);
});

test("a range is marked at once, and Escape drops it before it leaves", async () => {
  const grid = await selecting({ cells: [["r4", "c3"]] });
  grid.press("Shift+ArrowDown", "Shift+ArrowRight");
  grid.hears("Row 1 to row 2, Competitor to Country: 4 cells selected");
  assert.notEqual(grid.count(".area.range"), 0);
  grid.press("Space");
  assert.deepEqual(grid.element.cells, [...cellsOf([0, 1], [0, 1]), ["r4", "c3"]]);
  assert.equal(grid.count(".area"), 0);
  grid.press("Shift+End");
  grid.press("Escape");
  assert.equal(grid.heard().includes("grid-leave"), false);
  grid.press("Escape");
  assert.deepEqual(grid.heard(), ["grid-leave"]);
});

test("rows, columns and everything are marked by the keys of a spreadsheet", async () => {
  const grid = await selecting();
  grid.press("ArrowDown", "Shift+Space");
  assert.deepEqual(grid.element.cells, cellsOf([1], [0, 1, 2, 3]));
  grid.press("Control+Space");
  assert.equal(grid.element.cells.length, 8);
  grid.press("Control+a");
  assert.equal(grid.element.cells.length, 20);
  grid.press("Control+a");
  assert.deepEqual(grid.element.cells, []);
  grid.press("Control+z", "Control+z");
  assert.equal(grid.element.cells.length, 8);
  grid.press("Control+y");
  assert.equal(grid.element.cells.length, 20);
  grid.press("Control+Home", "Control+Shift+End", "Delete");
  assert.deepEqual(grid.element.cells, []);
});

test("a click toggles a cell, and on a header or a row number all that it stands for", async () => {
  const grid = await selecting();
  grid.click(grid.cell("r1", "c1"));
  assert.deepEqual(grid.element.cells, [["r1", "c1"]]);
  grid.click(grid.cell("r1", "c1"));
  assert.deepEqual(grid.element.cells, []);
  grid.click(grid.header("c3"));
  assert.deepEqual(grid.element.cells, cellsOf([0, 1, 2, 3, 4], [3]));
  grid.click(grid.number("r4"));
  assert.deepEqual(inRow(grid, "r4"), cellsOf([4], [0, 1, 2, 3]));
  grid.click(grid.header("c3"));
  assert.deepEqual(inColumn(grid, "c3"), []);
  assert.equal(grid.focused, grid.header("c3")); // keys go on where the mouse was
  grid.press("Space", "ArrowDown", "Space");
  assert.deepEqual(inColumn(grid, "c3"), cellsOf([1, 2, 3, 4], [3]));
});

test("a tap toggles a cell", async () => {
  const grid = await selecting();
  grid.tap(grid.cell("r1", "c0"));
  grid.tap(grid.cell("r2", "c2"));
  assert.deepEqual(grid.element.cells, [["r1", "c0"], ["r2", "c2"]]);
  grid.tap(grid.cell("r1", "c0"));
  assert.deepEqual(grid.element.cells, [["r2", "c2"]]);
});

test("Shift and a click extend a range, which the button marks", async () => {
  const grid = await selecting();
  grid.click(grid.cell("r1", "c1"));
  grid.press("Space");
  grid.click(grid.cell("r3", "c2"), { shift: true });
  assert.deepEqual(grid.element.cells, []);
  grid.button("Mark").click();
  assert.equal(grid.element.cells.length, 6);
});

test("arrows reach headers and row numbers, which mark all that they stand for", async () => {
  const grid = await selecting();
  grid.press("ArrowRight", "ArrowUp");
  assert.equal(grid.focused, grid.header("c1"));
  assert.equal(selected(grid.header("c1")), "false");
  grid.reads("Column Country: 5 cells");
  grid.press("Enter");
  assert.deepEqual(grid.element.cells, cellsOf([0, 1, 2, 3, 4], [1]));
  grid.hears("Column Country: 5 cells, marked. 5 cells marked.");
  assert.equal(selected(grid.header("c1")), "true");
  grid.press("ArrowDown", "ArrowDown", "Home", "ArrowLeft");
  assert.equal(grid.focused, grid.number("r1"));
  assert.equal(selected(grid.number("r1")), "false");
  assert.notEqual(selected(grid.header("c1")), "true");
  grid.reads("Row 2: 4 cells");
  grid.press("Space");
  assert.deepEqual(inRow(grid, "r1"), cellsOf([1], [0, 1, 2, 3]));
  grid.hears("Row 2: 4 cells, marked. 8 cells marked.");
  grid.press("Enter");
  grid.hears("Row 2: 4 cells, no longer marked. 4 cells marked.");
  assert.equal(selected(grid.number("r1")), "false");
  assert.equal(grid.heard().includes("grid-submit"), false); // Enter submits from a cell
});

test("headers extend to a range of columns, and the corner is the whole table", async () => {
  const grid = await selecting();
  grid.press("ArrowUp", "Shift+ArrowRight");
  grid.hears("Row 1 to row 5, Competitor to Country: 10 cells selected");
  assert.notEqual(grid.count(".area.range"), 0);
  grid.press("Space");
  assert.deepEqual(grid.element.cells, cellsOf([0, 1, 2, 3, 4], [0, 1]));
  grid.press("Control+ArrowLeft", "Control+ArrowLeft");
  grid.reads("The whole table: 20 cells");
  grid.press("Space");
  assert.equal(grid.element.cells.length, 20);
  grid.press("ArrowDown", "Shift+ArrowDown", "Space");
  assert.deepEqual(new Set(grid.element.cells.map(([row]) => row)), new Set(["r2", "r3", "r4"]));
  grid.press("PageUp", "ArrowUp", "PageUp");
  assert.deepEqual(grid.element.here, { row: "h", column: null });
  grid.press("ArrowRight");
  assert.equal(grid.copies(), VOTES.rows.map(([first]) => first).join("\n"));
});

test("a header of a table without rows marks nothing", async () => {
  const grid = await selecting({ table: { header: ["a", "b"], rows: [] } });
  assert.equal(grid.focused, grid.header("c0"));
  grid.press("Space", "Enter", "ArrowLeft", "Space", "Control+a");
  assert.deepEqual(grid.element.cells, []);
});

test("marks on thousands of cells reach those out of sight", async () => {
  const rows = Array.from({ length: 1500 }, (_, row) => [`${row}`, `${row * 7}`]);
  const grid = await selecting({ table: { header: ["a", "b"], rows } });
  grid.press("Control+a");
  assert.equal(grid.element.cells.length, 3000);
  grid.rests();
  assert.equal(selected(grid.cell("r1499", "c1")), "true");
  grid.press("Control+z");
  grid.rests();
  assert.equal(selected(grid.cell("r1499", "c1")), "false");
});

test("a range over thousands of rows is a few rectangles", async () => {
  const grid = await selecting({ table: { header: ["a", "b"], rows: Array.from({ length: 2000 }, (_, row) => [`${row}`, ""]) } });
  grid.rests();
  assert.ok(grid.cell("r1999", "c1"));
  grid.press("Control+Shift+End");
  grid.reads("Row 1 to row 2000, a to b: 4000 cells");
  const groups = grid.count("tbody");
  assert.ok(groups < 60);
  assert.equal(grid.count(".areas"), groups);
  grid.press("Shift+Control+Home");
  assert.equal(grid.count(".areas"), 0);
});

test("the grid says what it is to screen readers", async () => {
  const grid = await selecting();
  const table = grid.page.find("[role=grid]");
  const attributes = ["aria-multiselectable", "aria-rowcount", "aria-colcount", "aria-readonly"];
  assert.deepEqual(attributes.map((name) => table.getAttribute(name)), ["true", "6", "5", "true"]);
  assert.equal(grid.count("[role=columnheader]"), 5);
  assert.equal(grid.count("[role=rowheader]"), 5);
  assert.equal(grid.count("[role=gridcell]"), 20);
  assert.ok(grid.page.find(`#${table.getAttribute("aria-describedby")}`).textContent.includes("Space marks the cell"));
  assert.equal(grid.count("[tabindex='0']:is(td, th)"), 1); // one stop for Tab
});

test("a range is copied as spreadsheets do", async () => {
  const grid = await selecting();
  grid.press("ArrowDown", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown");
  assert.equal(grid.copies(), "Nigeria\t1,212\nSweden\t4");
  assert.deepEqual(grid.element.cells, []);
});

test("Enter submits", async () => {
  const grid = await selecting();
  grid.press("Enter");
  assert.deepEqual(grid.heard(), ["grid-submit"]);
});
