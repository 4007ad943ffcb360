/* Fields that a definition declares: keys, conditions, ranks, drafts and undo; gold answers and examples of earlier work. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, hasLeft, onward, openLive, reload, stopClock, until } from "./live.js";

const REST = 301; // ms after which digits act again and a draft is sent

async function begin(name, values = {}) {
  stopClock();
  const page = await openLive(`defined/${name}`, values);
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

async function click(page, element) {
  page.click(element);
  await page.settled();
  await page.passes(REST);
}

async function fill(page, element, text) {
  page.fill(element, text);
  for (const wait of [20, 1, REST]) await page.passes(wait); // the letter is painted, then looked at, then saved
}

/* Press Enter at the question, where it acts for the item. */
async function submit(page) {
  page.find(".question").focus();
  await press(page, "Enter");
}

const question = (page) => page.find(".question").textContent;
const notices = (page) => page.find("[data-notices]").textContent;
const field = (page, name) => page.find(`[data-field=${name}]`);
const isHidden = (element) => Boolean(element.closest("[hidden]"));
const ranks = (page, name) => [...field(page, name).querySelectorAll("select")];
const option = (page, name, label) => [...field(page, name).querySelectorAll("label")].find(({ textContent }) => textContent.includes(label)).control;
const submitted = () => ask("defined/submitted");

// --- fields ----------------------------------------------------------------------------------------------------------

test("keys answer open fields, and a condition shows another one", async () => {
  let page = await begin("batch");
  assert.ok(page.texts("h1, h2, .instruction").includes("How hard is this table to read?"));
  const first = question(page);
  assert.ok(isHidden(field(page, "reasons")));
  await press(page, "2");
  assert.ok(!isHidden(field(page, "reasons")));
  await press(page, "w", "4");
  for (const [place, value] of ["b", "a", "c"].entries()) await fill(page, ranks(page, "ranking")[place], value);
  assert.match(page.find("[data-saved]").textContent, /Saved/);
  page = await reload(page);
  assert.ok(option(page, "reasons", "Wide").checked);
  assert.equal(ranks(page, "ranking")[0].value, "b");
  await submit(page);
  assert.notEqual(question(page), first);
  assert.deepEqual(await submitted(), [
    { level: "hard", reasons: ["wide"], quality: 4, evidence: [], ranking: ["b", "a", "c"], comment: "" },
  ]);
  assert.ok(isHidden(field(page, "reasons")));
  await press(page, "u");
  assert.equal(question(page), first);
  assert.ok(!isHidden(field(page, "reasons")));
});

test("what a hidden field held is not sent, and a required one is named", async () => {
  const page = await begin("batch");
  await press(page, "2", "3", "Enter");
  assert.match(notices(page), /Answer “Reasons”\./);
  await press(page, "b");
  await click(page, option(page, "level", "Easy"));
  assert.ok(isHidden(field(page, "reasons")));
  const first = question(page);
  await submit(page);
  assert.notEqual(question(page), first);
  const [data] = await submitted();
  assert.deepEqual([data.level, data.reasons], ["easy", []]);
});

test("one choice submits by its key", async () => {
  const page = await begin("only_level");
  const first = question(page);
  await press(page, "1");
  assert.notEqual(question(page), first);
  assert.deepEqual(await submitted(), [{ level: "easy" }]);
});

test("the answers of each item are ranked", async () => {
  const page = await begin("over_answers", { field: { name: "order", type: "rank", of: "answers", question: "Best answer first" } });
  const options = [...ranks(page, "order")[0].options].filter(({ value }) => value);
  const number = ranks(page, "order").length;
  const first = question(page);
  const wanted = options.map(({ textContent }) => textContent).reverse();
  for (const [place, text] of wanted.entries()) {
    const select = ranks(page, "order")[place];
    await fill(page, select, [...select.options].find(({ textContent }) => textContent === text).value);
  }
  await click(page, page.find("button[value=submit]"));
  assert.notEqual(question(page), first);
  assert.deepEqual(await submitted(), [{ order: wanted }]);
  assert.equal(ranks(page, "order").length, 5 - number);
  assert.equal(ranks(page, "order")[0].value, "");
});

test("answers are chosen by keys, and each item offers its own", async () => {
  const tie = { value: "tie", title: "No difference" };
  const page = await begin("over_answers", { field: { name: "better", type: "choice", of: "answers", options: [tie] } });
  const labels = () => [...field(page, "better").querySelectorAll("label")];
  const number = labels().length;
  assert.match(labels().at(-1).textContent, /No difference/);
  assert.equal(labels().at(-1).querySelector("kbd").textContent, "0");
  const first = question(page);
  await press(page, "2");
  assert.notEqual(question(page), first);
  assert.deepEqual(await submitted(), [{ better: "2" }]);
  assert.equal(labels().length, 7 - number);
  assert.ok(labels().every(({ control }) => !control.checked));
  await press(page, "u");
  assert.equal(question(page), first);
  assert.ok(option(page, "better", "Answer 2").checked);
});

test("the panel says that best and worst must differ before anything is submitted", async () => {
  const page = await begin("best_worst");
  const lines = () => page.texts(".contract li.required");
  assert.deepEqual(lines(), ["Answer “Best”.", "Answer “Worst”."]);
  await click(page, option(page, "best", "Units"));
  await click(page, option(page, "worst", "Units"));
  assert.deepEqual(lines(), ["“Worst” must differ from “Best”. Choose another value."]);
  await fill(page, ranks(page, "order")[0], "b");
  assert.equal(lines()[1], "Give every option in “Order” a rank.");
  await click(page, page.find("button[value=submit]"));
  assert.match(notices(page), /“Worst” must differ from “Best”\./);
  assert.deepEqual(await submitted(), []);
  await click(page, option(page, "worst", "Title"));
  await fill(page, ranks(page, "order")[1], "a");
  assert.deepEqual(lines(), []);
  const first = question(page);
  await click(page, page.find("button[value=submit]"));
  assert.notEqual(question(page), first);
  assert.deepEqual(await submitted(), [{ best: "units", worst: "title", order: ["b", "a"] }]);
});

test("ranks are given by digits, and taken back by the same digit", async () => {
  const page = await begin("best_worst");
  const values = () => ranks(page, "order").map(({ value }) => value);
  const button = (value) => [...field(page, "order").querySelectorAll("[data-rank]")].find((each) => each.value === value);
  await click(page, button("b"));
  assert.deepEqual(values(), ["b", ""]);
  await click(page, button("a"));
  assert.deepEqual(values(), ["b", "a"]);
  await click(page, button("b"));
  assert.deepEqual(values(), ["", "a"]);
  assert.equal(button("a").querySelector("kbd").textContent, "1");
});

test("an item without a question has no heading of one, and says that a choice does not submit", async () => {
  const page = await begin("without_question");
  assert.ok(isHidden(page.find(".asked h2")));
  assert.equal(page.focused.className, "instruction");
  assert.doesNotMatch(page.find("[data-announce]").textContent, /Question/);
  assert.match(page.find(".panel").textContent, /A choice does not submit the item\./);
  assert.equal(page.find("#guidelines").open, false);
});

test("passages are marked by arrow keys and the key of a label, and by pressing words", async () => {
  const page = await begin("passages");
  const text = page.find("[data-text]");
  const word = (name) => [...text.querySelectorAll("[data-word]")].find(({ textContent }) => textContent === name);
  const first = question(page);
  text.focus();
  for (let index = 0; index < 3; index += 1) page.press("ArrowRight");
  page.press("Shift+ArrowRight");
  assert.match(page.find("[data-said]").textContent, /Ada Lovelace/);
  await press(page, "1");
  for (const kind of ["pointerdown", "pointerup"]) word("Heat").dispatchEvent(new page.window.Event(kind, { bubbles: true }));
  await press(page, "2");
  assert.deepEqual(page.texts("[data-list] li span"), ["Ada Lovelace: Person", "Heat: Film"]);
  assert.equal(word("Lovelace").dataset.tag, "Person");
  await press(page, "1");
  assert.match(page.find("[data-said]").textContent, /Select words first/);
  await click(page, page.find("button[value=submit]"));
  assert.deepEqual(await submitted(), [{ names: [[5, 17, "person"], [33, 37, "film"]] }]);
  assert.equal(question(page), first); // the same words, of the next item
  assert.deepEqual(page.texts("[data-list] li span"), []);
  await press(page, "u");
  assert.deepEqual(page.texts("[data-list] li span"), ["Ada Lovelace: Person", "Heat: Film"]);
  await click(page, page.find("[data-remove]"));
  assert.deepEqual(page.texts("[data-list] li span"), ["Heat: Film"]);
});

test("practice over answers is judged on the page", async () => {
  const page = await begin("practice");
  assert.ok(option(page, "better", "Answer 2"));
  await press(page, "1");
  const feedback = page.find("[data-feedback]").textContent;
  assert.match(feedback, /your answer Answer 1 \(Heat\), expected Answer 2 \(Alien\)/);
  assert.match(feedback, /Alien is from 1979\./);
});

// --- a form that changes ---------------------------------------------------------------------------------------------

test("a form that changes before the first response comes anew with the draft", async () => {
  let page = await begin("batch");
  await press(page, "2", "w", "4");
  await fill(page, field(page, "comment").querySelector("textarea, input") ?? field(page, "comment"), "Too many columns.");
  assert.match(page.find("[data-saved]").textContent, /Saved/);
  await ask("defined/form_changes");
  await click(page, page.find("button[value=submit]"));
  assert.match(notices(page), /Reload the page, check what is new/);
  page = await reload(page);
  assert.match(notices(page), /The form has changed since you saved this draft\./);
  assert.match(notices(page), /Not in the form any more: reasons: wide\./);
  assert.ok(option(page, "level", "Hard").checked);
  const comment = field(page, "comment");
  assert.equal((comment.querySelector("textarea, input") ?? comment).value, "Too many columns.");
  const first = question(page);
  await click(page, page.find("button[value=submit]"));
  assert.notEqual(question(page), first);
  assert.deepEqual(await submitted(), [{ level: "hard", quality: 4, comment: "Too many columns." }]);
});

test("the item after the one that was fetched ahead comes with the changed form", async () => {
  let page = await begin("batch", { size: 3 });
  await ask("defined/instruction_changes");
  for (const isLast of [false, true]) {
    const first = question(page);
    await press(page, "s");
    const reason = page.all("input[name=skip_reason]").find(({ value }) => value === "The table is damaged.");
    reason.checked = true;
    await click(page, page.find("button[value=skip]"));
    if (isLast) page = await onward(page);
    assert.notEqual(question(page), first);
  }
  assert.ok(page.texts("h1, h2, .instruction").includes("Is this table hard to read?"));
});

// --- gold answers ----------------------------------------------------------------------------------------------------

test("gold answers are set by one key each, on one page each", async () => {
  let page = await begin("gold");
  await click(page, page.all("a").find(({ textContent }) => textContent.trim() === "Add gold answer"));
  page = await onward(page);
  for (const [left, key] of [[4, "1"], [3, "2"], [2, "3"], [1, "1"]]) {
    assert.match(page.find(".where").textContent, new RegExp(`${left} items? without a gold answer`));
    page.press(key, "Enter"); // a digit is enough; one key too many sends nothing twice
    await page.settled();
    assert.equal(page.left.length, 1);
    page = await onward(page);
  }
  assert.ok(page.texts("h1").includes("Gold answers"));
  assert.deepEqual(await ask("defined/gold_answers"), [["extraction", ""], ["reasoning", ""], ["neither", ""], ["extraction", ""]]);
});

test("an item is skipped, and a gold answer is changed with its explanation", async () => {
  let page = await begin("gold");
  const list = page.path;
  page = await reload(page, `${list}new/`);
  const first = question(page);
  const link = (label) => page.all("a").find((each) => (each.getAttribute("aria-label") ?? each.textContent.trim()).startsWith(label));
  const why = () => page.all("textarea, input").find(({ labels }) => labels?.[0]?.textContent.includes("Explanation"));
  await click(page, link("Skip this example"));
  page = await onward(page);
  assert.notEqual(question(page), first);
  page.fill(why(), "It needs a comparison.");
  await press(page, "Escape", "2");
  page = await onward(page);
  assert.match(page.find(".where").textContent, /3 items without a gold answer/);
  page = await reload(page, list);
  await click(page, link("Change the gold answer"));
  page = await onward(page);
  assert.equal(why().value, "It needs a comparison.");
  await press(page, "1");
  page = await onward(page);
  assert.ok(page.texts("h1").includes("Gold answers"));
  assert.deepEqual(await ask("defined/gold_answers"), [["extraction", "It needs a comparison."]]);
});

// --- examples of earlier work ----------------------------------------------------------------------------------------

test("one key shows examples of earlier work, and Escape returns to the item", async () => {
  const page = await begin("earlier_work");
  await press(page, "e");
  await until(page, () => page.all("dialog[open] section").length);
  const dialog = page.find("dialog[open]");
  assert.match(dialog.textContent, /Examples of earlier work/);
  assert.equal(dialog.querySelectorAll("section").length, 3);
  assert.match(dialog.textContent, /From the practice set/);
  const refused = dialog.querySelector("[data-state=no]").textContent;
  assert.ok(refused.includes("<b>Read</b> rule 3 again."));
  assert.match(refused, /by you/);
  const before = question(page);
  await press(page, "1"); // belongs to the dialog: nothing is submitted
  assert.equal(question(page), before);
  dialog.close(); // what Escape does in a dialog
  await page.settled();
  assert.equal(page.all("dialog[open]").length, 0);
  page.find(".question").focus();
  await press(page, "1");
  assert.notEqual(question(page), before);
  assert.ok(!hasLeft(page));
});
