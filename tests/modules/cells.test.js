/* The forms of task types about cells: <askew-marked-cells>, <askew-first-cut>, <askew-programs> and the table. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, hasLeft, openLive, reload, stopClock } from "./live.js";

const REST = 301; // ms after which digits act again and a draft is sent

async function begin(kind, examples, terms = {}) {
  stopClock();
  const page = await openLive("cells/batch", { kind, examples, ...terms });
  await page.passes(REST);
  return page;
}

/* Press keys one after the other, as somebody who looks at the page in between. */
async function press(page, ...keys) {
  for (const key of keys) {
    page.press(key);
    await page.settled();
    await page.passes(REST);
  }
}

/* Type into the field that has the focus, or into the cell that has it. */
async function write(page, text) {
  if (!page.focused.matches("input, textarea")) await press(page, text[0]);
  page.fill(page.focused, text);
  for (const wait of [20, 1, REST]) await page.passes(wait); // the letter is painted, then looked at, then saved
}

async function click(page, element) {
  page.click(element);
  await page.settled();
  await page.passes(REST);
}

const question = (page) => page.find(".question").textContent;
const notices = (page) => page.find("[data-notices]").textContent;
const row = (page, id) => page.find(`[data-row=${id}]`);
const cell = (page, id, column) => row(page, id).querySelector(`[data-column=${column}]`);
const isRemoved = (page, id) => row(page, id).classList.contains("removed");
const holds = (page, code) => page.find(`[data-holds=${code}]`).dataset.state;
const programs = (page) => page.all("askew-programs [role=radiogroup] label");
const shown = (page) => programs(page).filter(({ hidden }) => !hidden);
const group = (page) => page.find("askew-programs [role=radiogroup]");
const answers = (page) => page.find("[data-field=answers]");
const submitted = () => ask("cells/submitted");

// --- cells that the answer depends on --------------------------------------------------------------------------------

test("other accepted forms of the answer follow it with “or”, for each item its own", async () => {
  const page = await begin("relevant_cells", "forms");
  const listed = () => page.all("ul[data-show=answers] li").map(({ textContent }) => textContent);
  const first = { "which film is longest?": ["Heat", "or Heat (1995) | 170"], "which film is second?": ["Ran"] };
  assert.deepEqual(listed(), first[question(page)]);
  const before = question(page);
  await press(page, "ArrowDown", " ", "Enter");
  assert.notEqual(question(page), before);
  assert.deepEqual(listed(), first[question(page)]);
});

test("relevant cells are marked with a range and Enter", async () => {
  const page = await begin("relevant_cells", "costs");
  const marked = () => page.find("askew-marked-cells").textContent;
  await press(page, "ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight", " ");
  assert.match(marked(), /Row 2\. column 1: Cost; 2019: \$100; 2018: \$82/);
  await press(page, "Enter");
  assert.match(question(page), /\(1\)/);
  assert.match(marked(), /None yet/);
  await press(page, "Enter");
  assert.match(notices(page), /Mark at least one cell/);
  await press(page, "Escape", "0", "Enter");
  assert.deepEqual(await submitted(), [
    { cells: [["r1", "c0"], ["r1", "c1"], ["r1", "c2"]], unanswerable: false },
    { cells: [], unanswerable: true },
  ]);
  assert.ok(hasLeft(page));
});

test("marked cells are hidden with one key and judged with another", async () => {
  const page = await begin("cell_relevance", "highlighted");
  const hide = page.find("[data-hide-marked]");
  assert.equal(page.find("[data-show=evidence]").textContent, "cells highlighted in the source (as in FeTaQA)");
  assert.match(cell(page, "r1", "c1").textContent, /\$100/);
  await press(page, "h");
  assert.doesNotMatch(cell(page, "r1", "c1").textContent, /\$100/);
  assert.equal(hide.getAttribute("aria-pressed"), "true");
  await press(page, "h");
  assert.match(cell(page, "r1", "c1").textContent, /\$100/);
  await press(page, "h", "1");
  assert.match(question(page), /\(1\)/);
  assert.equal(hide.getAttribute("aria-pressed"), "false");
  await press(page, "2");
  assert.deepEqual((await submitted()).map(({ label }) => label), ["yes", "no"]);
  assert.ok(hasLeft(page));
});

// --- shortened tables ------------------------------------------------------------------------------------------------

test("a table is reduced to its evidence, and a program goes with it", async () => {
  const page = await begin("short_table", "marked");
  assert.match(programs(page)[0].textContent, /2019 in row 2 \(Cost\) minus 2018 in row 2 \(Cost\)/);
  assert.ok(!page.find("askew-first-cut").hidden);
  assert.equal(page.focused, group(page));
  await press(page, "c");
  assert.equal(page.all("[data-changes] li").length, 4);
  await press(page, "1");
  assert.match(page.find("askew-programs .computed").textContent, /18 → 18The program still gives 18\./);
  await press(page, "Enter");
  assert.match(question(page), /\(1\)/);
  // By hand: what is protected stays.
  await press(page, "ArrowDown", "x");
  assert.ok(!isRemoved(page, "r1"));
  await press(page, "ArrowDown", "x");
  assert.ok(isRemoved(page, "r2"));
  await press(page, "Enter");
  const [first, second] = await submitted();
  assert.equal(first.program.op, "subtract");
  assert.equal(first.operations.filter(({ op }) => op === "remove_row").length, 3);
  assert.equal(second.program, null);
  assert.deepEqual(second.operations.map((operation) => operation.row), ["r2"]);
  assert.ok(hasLeft(page));
});

test("nothing counts as held that was not checked, and the program is asked for", async () => {
  const page = await begin("short_table", "cost");
  const codes = ["protected_cell", "computed_answer_differs"];
  assert.equal(page.focused, group(page));
  await press(page, "ArrowDown", "ArrowDown", "x");
  assert.ok(isRemoved(page, "r2"));
  assert.match(page.find("[data-saved]").textContent, /Saved/);
  assert.deepEqual(codes.map((code) => holds(page, code)), ["open", "open"]);
  await press(page, "Enter");
  assert.match(notices(page), /Choose how the answer is worked out/);
  await press(page, "1");
  assert.deepEqual(codes.map((code) => holds(page, code)), ["yes", "yes"]);
  await press(page, "Enter");
  assert.equal((await submitted())[0].program.op, "subtract");
  assert.ok(hasLeft(page));
});

test("what only the program guards is free once it is rejected", async () => {
  let page = await begin("short_table", "total with program");
  const isKept = () => cell(page, "r4", "c1").classList.contains("kept");
  assert.ok(isKept());
  await press(page, "Escape", "t", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "x");
  assert.equal(page.focused, cell(page, "r4", "c0"));
  assert.ok(!isRemoved(page, "r4"));
  await press(page, "Escape", "m", "n");
  assert.equal(page.all("askew-grid .kept").length, 0);
  await press(page, "Escape", "t", "x");
  assert.ok(isRemoved(page, "r4"));
  assert.match(page.find("[data-saved]").textContent, /Saved/);
  assert.notEqual(holds(page, "protected_cell"), "no");
  await press(page, "Escape", "m", "1");
  assert.ok(isKept());
  assert.equal(holds(page, "protected_cell"), "no");
  page = await reload(page);
  await page.passes(REST);
  assert.equal(holds(page, "protected_cell"), "no");
});

test("the cell of the answer goes only with a word", async () => {
  const page = await begin("short_table", "film");
  assert.equal(page.focused, group(page));
  assert.ok(page.find("askew-shown-if").hidden);
  await press(page, "n", "x", "Enter");
  assert.match(notices(page), /“Heat” was in row 1, Film/);
  assert.equal(page.focused.name, "worked_out");
  await press(page, "8", "Enter");
  assert.equal((await submitted())[0].worked_out, true);
  assert.ok(hasLeft(page));
});

test("a shortened table that nothing can be checked against is asked about once", async () => {
  const page = await begin("short_table", "film");
  await press(page, "n", "ArrowDown", "x");
  assert.ok(isRemoved(page, "r1"));
  for (const code of ["protected_cell", "computed_answer_differs"]) assert.equal(holds(page, code), "open");
  await press(page, "Enter");
  assert.match(notices(page), /no program is chosen, so the answer cannot be checked/);
  assert.match(notices(page), /Submit again to confirm\./);
  assert.deepEqual(await submitted(), []);
  await click(page, page.all("[data-notices] button").find(({ textContent }) => textContent === "Submit anyway"));
  assert.equal((await submitted()).length, 1);
  assert.deepEqual(await ask("cells/unmet"), [["nothing_to_check_against"]]);
  assert.ok(hasLeft(page));
});

test("an untouched table is submitted only with a word", async () => {
  const page = await begin("short_table", "cost");
  await press(page, "Enter");
  assert.match(notices(page), /Change something/);
  await press(page, "Escape", "9", "Enter");
  assert.equal((await submitted())[0].whole, true);
  assert.ok(hasLeft(page));
});

// --- changed values --------------------------------------------------------------------------------------------------

test("a few programs are shown, and of those the chosen one", async () => {
  const page = await begin("value_change", "total", { variant: "answer_stays" });
  const more = page.find(".more-programs");
  assert.equal(page.focused, group(page));
  assert.match(more.textContent, /2 more/);
  assert.equal(shown(page).length, 4);
  await press(page, "1");
  assert.equal(shown(page).length, 1);
  assert.match(more.textContent, /5 others/);
  assert.ok(page.find("askew-grid").contains(page.focused));
  await press(page, "Escape", "m");
  assert.equal(shown(page).length, 6);
  await press(page, "n");
  assert.deepEqual(shown(page).map((label) => label.querySelector("span").textContent), ["None of these"]);
});

test("the new answer is computed from a program that is confirmed by one key", async () => {
  const page = await begin("value_change", "costs", { variant: "answer_changes" });
  assert.equal(page.find("askew-measure").textContent, "in million USD");
  assert.match(programs(page)[0].textContent, /minus 2018 in row 2/);
  assert.equal(page.focused, group(page));
  await press(page, "1", "ArrowDown", "ArrowRight");
  await write(page, "$110");
  await press(page, "Enter");
  assert.equal(answers(page).value, "28");
  assert.match(page.find("askew-programs .computed").textContent, /18 → 28/);
  await press(page, "Enter");
  assert.match(question(page), /\(1\)/);
  // One's own answer is not overwritten, and asks for a reason.
  assert.equal(page.focused, group(page));
  await press(page, "1", "ArrowDown", "ArrowRight");
  await write(page, "$120");
  await press(page, "Enter");
  assert.equal(answers(page).value, "38");
  await press(page, "Escape", "a");
  await write(page, "37");
  assert.ok(!page.find("askew-shown-if").hidden);
  assert.equal(answers(page).value, "37");
  await press(page, "Escape", "Enter");
  assert.match(notices(page), /the program gives “38”/);
  assert.equal(page.focused.closest("[data-field]").dataset.field, "difference");
  await write(page, "rounded");
  await press(page, "Control+Enter");
  const [first, second] = await submitted();
  assert.deepEqual([first.answers, first.difference], [["28"], ""]);
  assert.deepEqual([second.answers, second.difference], [["37"], "rounded"]);
  assert.ok(hasLeft(page));
});

test("somebody may say that no program is right", async () => {
  const page = await begin("value_change", "cost", { variant: "answer_stays" });
  assert.match(programs(page).at(-1).textContent, /None of these/);
  assert.equal(page.focused, group(page));
  await press(page, "n", "ArrowDown", "ArrowRight", "ArrowDown");
  await write(page, "460");
  await press(page, "Enter", "Enter");
  assert.deepEqual((await submitted())[0].program, { op: "none" });
  assert.ok(hasLeft(page));
});

test("a change outside the marked cells is pointed out and may stand", async () => {
  const page = await begin("value_change", "marked", { variant: "answer_stays", size: 1 });
  await press(page, "ArrowDown", "ArrowDown", "ArrowRight");
  await write(page, "460");
  await press(page, "Enter");
  assert.equal(holds(page, "outside_evidence"), "look");
  assert.match(page.find("[data-holds=outside_evidence]").textContent, /outside the cells that the answer depends on/);
  await press(page, "Enter");
  assert.equal((await submitted()).length, 1);
  assert.ok(hasLeft(page));
});
