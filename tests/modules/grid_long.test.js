/* <askew-grid>: texts that are too long for their cells are read in a pane of their own, by key and by button. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openGrid } from "./grid.js";

const LONG = "word ".repeat(400).trim();
const TABLE = { header: ["Film", "Plot"], rows: [["Heat", LONG], ["Alien", "short"]] };
const SET = { op: "set_cell", row: "r0", column: "c1", old: LONG, new: `${LONG} changed` };

async function opened(options) {
  const grid = await openGrid();
  grid.show({ table: TABLE, ...options });
  return grid;
}

const paneNow = (grid) => grid.page.document.querySelector("dialog.reading");

/* The pane, once its module has come. */
async function pane(grid) {
  for (let turn = 0; turn < 100_000 && !paneNow(grid); turn += 1) await new Promise(setImmediate);
  return paneNow(grid);
}

for (const mode of ["select", "edit", "structure"]) {
  test(`${mode}: Alt and the arrow down open the whole text of the current cell, and Close leads back`, async () => {
    const grid = await opened({ mode });
    grid.press("ArrowRight");
    assert.equal(grid.focused, grid.cell("r0", "c1"));
    grid.press("Alt+ArrowDown");
    const dialog = await pane(grid);
    assert.equal(dialog.querySelector(".text").textContent, LONG);
    assert.equal(dialog.querySelector("h2").textContent, "Row 1, Plot");
    grid.click(dialog.querySelector("button"));
    assert.equal(paneNow(grid), null);
    assert.deepEqual(grid.operations, []);
    assert.deepEqual(grid.element.cells, []);
  });
}

test("a button in the cell opens it as well, marks nothing and takes no stop of its own", async () => {
  const grid = await opened({ mode: "select" });
  const button = grid.button("Read the whole text");
  assert.equal(button.tabIndex, -1);
  grid.click(button);
  assert.equal((await pane(grid)).querySelector(".text").textContent, LONG);
  assert.deepEqual(grid.element.cells, []);
});

test("in a table to read the button is a stop, and short cells have none", async () => {
  const grid = await opened({ mode: "read" });
  const buttons = grid.page.all("td button");
  assert.equal(buttons.length, 1);
  assert.equal(buttons[0].tabIndex, 0);
  buttons[0].click();
  assert.equal((await pane(grid)).querySelector(".text").textContent, LONG);
});

test("a changed text is read with what it was before", async () => {
  const grid = await opened({ mode: "compare", operations: [SET] });
  grid.page.all("td button")[0].click();
  const dialog = await pane(grid);
  assert.equal(dialog.querySelector("del").textContent, `was ${LONG}`);
  assert.equal(dialog.querySelector("ins").textContent, `${LONG} changed`);
});

test("a hidden text is not read", async () => {
  const grid = await opened({ mode: "select", marks: [["r0", "c1"]] });
  grid.press("ArrowRight");
  grid.element.hideMarked();
  await grid.element.beside.readWhole({ row: "r0", column: "c1" });
  assert.equal(paneNow(grid), null);
  grid.element.hideMarked(false);
  await grid.element.beside.readWhole({ row: "r0", column: "c1" });
  assert.equal(paneNow(grid).querySelector(".text").textContent, LONG);
});

test("the text of a cell is its own, without the words of the button", async () => {
  const grid = await opened({ mode: "read" });
  assert.equal(grid.cell("r0", "c1").textContent, LONG);
});
