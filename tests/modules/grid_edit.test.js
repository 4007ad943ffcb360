/* <askew-grid>, edit: cells and headers are written, several cells at once, rows and columns come and go. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openGrid } from "./grid.js";

const FORMS = {
  header: ["", "2019", "2018"],
  rows: [
    ["Revenue", "1,234", "1,100"],
    ["Loss", "(9.9)", "(8.0)"],
    ["Margin", "12 %", "11 %"],
    ["Price", "$41.0", "$40.5"],
  ],
};
const names = (grid) => grid.operations.map(({ op }) => op);

test("typing replaces a value, and the old one stays visible", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight");
  grid.types("361");
  assert.deepEqual(grid.texts, { "r2 c2": "361" }); // while it is typed
  grid.press("Enter");
  assert.ok(grid.cell("r2", "c2").querySelector("del").textContent.includes("4"));
  assert.equal(grid.cell("r2", "c2").querySelector("ins").textContent, "361");
  grid.hears("Row 3, Votes: 4 becomes 361.");
  grid.press("F2");
  grid.types("0");
  grid.press("Escape");
  assert.deepEqual(grid.texts, { "r2 c2": "361" });
  grid.press("Delete");
  assert.deepEqual(grid.texts, { "r2 c2": "" });
  grid.press("Control+z", "Control+z");
  assert.deepEqual(grid.operations, []);
  grid.press("Control+y", "Control+Shift+z", "Control+y");
  assert.deepEqual(grid.texts, { "r2 c2": "" });
  grid.hears("Nothing to redo.");
});

test("undo goes back without limit", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  for (let number = 0; number < 60; number += 1) {
    grid.types(String(number));
    grid.press("Enter");
  }
  for (let step = 0; step < 60; step += 1) grid.press("Control+z");
  assert.deepEqual(grid.operations, []);
  for (let step = 0; step < 60; step += 1) grid.press("Control+y");
  assert.deepEqual(grid.texts, { "r0 c0": "59" });
});

for (const [row, column, text, like] of [
  ["r0", "c1", "1400", "1,234"],
  ["r1", "c1", "-9.9", "(9.9)"],
  ["r2", "c1", "13%", "12 %"],
  ["r3", "c1", "39.125", "$41.0"],
  ["r3", "c1", "$4l.0", "$41.0"],
]) {
  test(`a value in another format has a hint beside its cell and is not rewritten: ${text}`, async () => {
    const grid = await openGrid();
    grid.show({ table: FORMS, mode: "edit" });
    const cell = grid.cell(row, column);
    grid.click(cell);
    grid.types(text);
    const hint = cell.querySelector(".hint");
    assert.equal(hint.hidden, false);
    assert.equal(hint.textContent, `Different format from “${like}”`);
    assert.equal(grid.page.find("textarea.editor").getAttribute("aria-describedby"), hint.id);
    grid.hears(`Different format from “${like}”`);
    grid.press("Enter");
    assert.deepEqual(grid.texts, { [`${row} ${column}`]: text });
    assert.equal(cell.querySelector(".hint").textContent, `Different format from “${like}”`);
    grid.press("ArrowLeft");
    assert.equal(cell.querySelector(".hint"), null);
    assert.ok(cell.classList.contains("odd")); // the sign stays when people have gone on
    grid.press("ArrowRight", "Control+z");
    assert.equal(cell.classList.contains("odd"), false);
  });
}

for (const [row, text] of [["r0", "1,401"], ["r1", "(10.4)"], ["r2", "13 %"], ["r3", "$39.5"], ["r0", "987"]]) {
  test(`a value in the format of its column has no hint: ${text}`, async () => {
    const grid = await openGrid();
    grid.show({ table: FORMS, mode: "edit" });
    grid.click(grid.cell(row, "c1"));
    grid.types(text);
    assert.equal(grid.page.find(".hint").hidden, true);
    grid.press("Enter");
    assert.deepEqual(grid.texts, { [`${row} c1`]: text });
    assert.equal(grid.count(".odd"), 0);
  });
}

test("headers are renamed by typing, F2 and a double click", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit", allowed: ["set_cell", "rename_header"] });
  grid.press("ArrowUp", "ArrowRight");
  assert.equal(grid.focused, grid.header("c1"));
  grid.types("Nation");
  grid.press("Enter");
  assert.equal(grid.focused, grid.header("c1"));
  assert.ok(grid.header("c1").querySelector("del").textContent.includes("Country"));
  grid.hears("Header of column 2: Country becomes Nation.");
  grid.press("F2");
  grid.types("s");
  grid.press("Enter");
  grid.click(grid.header("c2"), { times: 2 });
  grid.types(" cast");
  grid.press("Enter");
  assert.deepEqual(grid.texts, { "h c1": "Nations", "h c2": "Votes cast" });
  grid.press("Control+z", "Control+z", "Control+z");
  assert.deepEqual(grid.operations, []);
});

test("what is not allowed is refused with a reason that is seen and heard", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit", allowed: ["set_cell"], protected: [["r1", "c2", "evidence"]] });
  assert.equal(grid.page.texts("button").some((text) => /Remove row|Insert row/.test(text)), false);
  for (const [keys, words] of [
    [["ArrowUp", "x"], "Columns cannot be renamed here."],
    [["ArrowDown", "Alt+Delete"], "Rows cannot be removed here."],
    [["Alt+Shift+Delete"], "Columns cannot be removed here."],
    [["Alt+Enter"], "Rows cannot be added here."],
    [["ArrowDown", "End", "ArrowLeft", "5"], "Row 2, Votes is protected (evidence) and cannot be changed."],
    [["Delete"], "Row 2, Votes is protected (evidence)"],
  ]) {
    grid.press(...keys);
    grid.hears(words);
    grid.reads(words);
  }
  assert.deepEqual(grid.operations, []);
  assert.equal(grid.count("textarea.editor"), 0);
  grid.press("Home");
  grid.types("Ann");
  grid.press("Enter");
  assert.deepEqual(grid.texts, { "r1 c0": "Ann" });
});

test("rows and columns are removed in ranges and restored", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.press("ArrowDown", "Shift+ArrowDown", "Alt+Delete");
  assert.equal(grid.count("tr.removed"), 2);
  grid.hears("2 rows removed.");
  grid.press("Alt+Delete");
  assert.equal(grid.count("tr.removed"), 0);
  grid.press("Alt+Shift+Delete");
  assert.ok(grid.header("c0").textContent.includes("removed"));
  assert.equal(grid.cell("r4", "c0").className, "removed");
  assert.deepEqual(names(grid), ["remove_column"]);
  grid.types("x");
  grid.hears("Column Competitor is removed. Restore it before you edit it.");
  grid.press("Alt+Delete", "Alt+Shift+Delete"); // both rows removed, the column restored
  assert.deepEqual(grid.operations.map(({ op, old }) => [op, old[0]]), [["remove_row", "Nwosu"], ["remove_row", "Olsson"]]);
  grid.press("Control+z", "Control+z", "Control+z", "Control+z", "Control+z");
  assert.deepEqual(grid.operations, []);
});

test("a new row is filled and removed", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.press("Alt+Enter");
  grid.types("Zoë");
  grid.press("Tab");
  grid.types("Peru");
  grid.press("Enter");
  assert.deepEqual(grid.operations.map(({ op, after, cells }) => [op, after, cells]), [["insert_row", "r0", ["Zoë", "Peru", "", ""]]]);
  assert.equal(grid.count("tr.inserted"), 1);
  grid.press("Alt+Delete");
  assert.deepEqual(grid.operations, []);
});

test("cells are copied and pasted as in a spreadsheet, in one step", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.press("Shift+ArrowDown", "Shift+ArrowRight");
  assert.equal(grid.copies(), "Leslie\tCanada\nNwosu\tNigeria");
  grid.press("ArrowDown", "Home");
  grid.pastes("A\tB\r\nC\tD\r\n");
  grid.hears("4 cells pasted.");
  assert.deepEqual(grid.texts, { "r2 c0": "A", "r2 c1": "B", "r3 c0": "C", "r3 c1": "D" });
  assert.equal(grid.copies(), "A\tB\nC\tD"); // what was pasted is selected
  grid.press("Control+z");
  assert.deepEqual(grid.operations, []);
});

test("a text of 150,000 lines is pasted as far as the table reaches, or refused with a sentence", async () => {
  const grid = await openGrid();
  const text = Array.from({ length: 150_000 }, (_, at) => `${at}`).join("\n");
  grid.show({ mode: "edit" });
  grid.pastes(text);
  grid.reads("149995 cells outside the table were ignored.");
  assert.deepEqual(Object.values(grid.texts), ["0", "1", "2", "3", "4"]);
  grid.show({ table: { header: ["a"], rows: Array(1_500).fill(["x"]) }, mode: "edit" });
  grid.pastes(text);
  grid.reads("Nothing was changed: 1500 cells is too much at once");
  assert.deepEqual(grid.operations, []);
});

test("a text that is longer than a cell is not pasted, nor kept from its field, with a message", async () => {
  const grid = await openGrid();
  const message = () => grid.page.find(".told").textContent;
  const refused = "Not changed: a cell takes at most 100000 characters.";
  const long = "x".repeat(100_001);
  grid.show({ mode: "edit" });
  grid.pastes(`${long}\ty`);
  assert.equal(message(), `1 cell pasted. ${refused}`);
  assert.deepEqual(grid.texts, { "r0 c1": "y" });
  grid.press("Control+z", "F2");
  grid.page.fill(grid.page.find("textarea.editor"), long);
  assert.equal(grid.page.find(".writing .hint").textContent, refused);
  grid.press("Enter");
  assert.equal(message(), refused);
  assert.deepEqual(grid.operations, []);
});

test("a table that was copied as HTML alone is pasted as its cells, and what holds no text changes nothing", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.pastes("<meta charset=utf-8><table><tr><th>A</th><td> B </td></tr><tr><td>C</td><td>D &amp; E</td></tr></table>", "text/html");
  assert.deepEqual(grid.texts, { "r0 c0": "A", "r0 c1": "B", "r1 c0": "C", "r1 c1": "D & E" });
  grid.press("Escape");
  grid.pastes("<p>one <b>text</b></p>", "text/html");
  assert.equal(grid.texts["r0 c0"], "one text");
  const before = grid.texts;
  grid.pastes("ignored", "image/png");
  grid.reads("Nothing changed.");
  assert.deepEqual(grid.texts, before);
});

test("what lies beyond the table is not pasted, with a message", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit", protected: [["r4", "c2", "evidence"]] });
  grid.press("Control+End", "ArrowLeft");
  grid.pastes("1\t2\t3\n4\t5\t6");
  grid.hears("4 cells outside the table were ignored. Row 5, Votes is protected (evidence)");
  grid.reads("4 cells outside the table were ignored.");
  assert.deepEqual(grid.texts, { "r4 c3": "2" });
});

test("one text fills a range, and quoted cells keep their lines", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.press("Control+End", "Shift+ArrowUp", "Shift+ArrowUp");
  grid.pastes("none");
  assert.deepEqual(Object.values(grid.texts), ["none", "none", "none"]);
  assert.equal(grid.operations.length, 3);
  grid.press("Control+Home");
  grid.pastes('"two\nlines, ""quoted"""\tplain');
  assert.equal(grid.texts["r0 c0"], 'two\nlines, "quoted"');
  assert.equal(grid.texts["r0 c1"], "plain");
  grid.press("Control+Home", "Shift+ArrowRight");
  assert.equal(grid.copies(), '"two\nlines, ""quoted"""\tplain');
  assert.ok(grid.cuts());
  assert.equal(grid.texts["r0 c0"], "");
  grid.press("Control+Space", "Delete"); // a whole column: its name is left alone
  assert.ok(names(grid).every((name) => name === "set_cell"));
});

test("line ends of the source stay", async () => {
  const grid = await openGrid();
  grid.show({ table: { header: ["a"], rows: [["one\r\ntwo"]] }, mode: "edit" });
  grid.press("F2", "Enter");
  assert.deepEqual(grid.operations, []);
  grid.press("F2", "Shift+Enter");
  grid.types("three");
  grid.press("Enter");
  assert.deepEqual(grid.texts, { "r0 c0": "one\r\ntwo\r\nthree" });
});

test("a double click edits a cell, and a click on another cell keeps the value", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.click(grid.cell("r0", "c1"), { times: 2 });
  grid.types("!");
  grid.click(grid.cell("r4", "c0"));
  assert.deepEqual(grid.texts, { "r0 c1": "Canada!" });
  grid.click(grid.number("r4"));
  grid.reads("Row 5, Competitor to Notes: 4 cells");
  grid.click(grid.cell("r0", "c0"));
  grid.click(grid.cell("r1", "c1"), { shift: true });
  grid.reads("Row 1 to row 2, Competitor to Country: 4 cells");
});

test("a second tap edits a cell", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  grid.tap(grid.cell("r2", "c2"));
  assert.equal(grid.count("textarea.editor"), 0);
  grid.tap(grid.cell("r2", "c2"));
  grid.types("0");
  grid.tap(grid.cell("r0", "c0"));
  assert.deepEqual(grid.texts, { "r2 c2": "40" });
  grid.tap(grid.button("Undo"));
  assert.deepEqual(grid.operations, []);
});

test("a page changes the table by operations that can be undone", async () => {
  const grid = await openGrid();
  grid.show({ mode: "edit" });
  const last = ["Leslie", "Nwosu", "Olsson", "Adeyemi", "Tanaka"];
  assert.ok(grid.element.act([{ op: "split_column", column: "c0", into: [
    { column: "n1", header: "First", cells: ["", "", "", "", ""] },
    { column: "n2", header: "Last", cells: last },
  ] }]));
  grid.hears("Column 1 (Competitor) split into First | Last.");
  assert.ok(grid.header("n2").textContent.includes("from Competitor"));
  assert.ok(grid.header("c0").textContent.includes("split"));
  assert.deepEqual(grid.element.freshIds(2), ["n3", "n4"]);
  grid.element.focusCell();
  grid.press("Home", "ArrowRight");
  grid.types("L.");
  grid.press("Enter");
  grid.element.takeBack(0);
  grid.hears("Later changes depend on this one.");
  grid.press("Control+z", "Control+z");
  assert.deepEqual(grid.operations, []);
  assert.equal(grid.count("thead th[data-column=n2]"), 0);
});

test("operations that do not fit are left out", async () => {
  const grid = await openGrid();
  const operations = [{ op: "set_cell", row: "r0", column: "c0", old: "Somebody", new: "x" }];
  assert.equal(grid.show({ operations, mode: "edit" }), false);
  assert.deepEqual(grid.operations, []);
  assert.equal(grid.cell("r0", "c0").textContent, "Leslie");
});

test("a table of headers alone gets its first row", async () => {
  const grid = await openGrid();
  grid.show({ table: { header: ["a", "b"], rows: [] }, mode: "edit" });
  assert.equal(grid.focused, grid.header("c0"));
  grid.press("Alt+Enter");
  grid.types("1");
  grid.press("Enter");
  assert.deepEqual(grid.operations.map(({ cells }) => cells), [["1", ""]]);
});

const eight = (text) => Array.from({ length: 8 }, (_, at) => text(at));
const MANY = { header: eight((at) => `column ${at}`), rows: Array.from({ length: 600 }, (_, row) => eight((at) => `${row}.${at}`)) }; // 4800 cells
const MANY_TEXTS = Array(600).fill(eight(() => "x").join("\t")).join("\n");

for (const [limit, reason] of [[2, "at most 2 are allowed."], [1, "at most 1 change is allowed."], [null, "at most 1000 are allowed."]]) {
  test(`changing thousands of cells at once is refused with a reason: limit ${limit}`, async () => {
    const grid = await openGrid();
    grid.show({ table: MANY, mode: "edit", limit });
    const message = () => grid.page.find(".told").textContent;
    for (const act of [() => grid.press("Delete"), () => grid.press("Backspace"), () => grid.pastes(MANY_TEXTS)]) {
      grid.press("Control+Home", "Control+a");
      act();
      assert.equal(message(), `Nothing was changed: 4800 cells is too much at once; ${reason}`);
      assert.deepEqual(grid.operations, []);
      grid.press("ArrowDown");
      assert.equal(message(), `Nothing was changed: 4800 cells is too much at once; ${reason}`);
    }
    if (limit === null) return;
    grid.press("Control+a", "Alt+Delete");
    assert.equal(message(), `Nothing was changed: 600 rows is too much at once; ${reason}`);
    assert.deepEqual(grid.operations, []);
  });
}

test("some more cells than the limit are changed at once: a reason may allow them", async () => {
  const grid = await openGrid();
  grid.show({ table: MANY, mode: "edit", limit: 2 });
  grid.press("Shift+ArrowDown", "Shift+ArrowDown", "Delete");
  assert.equal(grid.operations.length, 3);
});

test("cells that stay as they are do not count", async () => {
  const grid = await openGrid();
  const rows = [["only this", ...eight(() => "").slice(1)], ...Array.from({ length: 599 }, () => eight(() => ""))];
  grid.show({ table: { ...MANY, rows }, mode: "edit", limit: 2 });
  grid.press("Control+a", "Delete");
  assert.deepEqual(grid.operations.map(({ old }) => old), ["only this"]);
});
