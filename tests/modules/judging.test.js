/* The forms of task types that judge and that reword: <askew-said>, <askew-rewording>, <askew-pair>, <askew-ranks>. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, hasLeft, openLive, stopClock } from "./live.js";
import { load, openPage } from "./page.js";

const REST = 251; // ms after which keys and presses act on an item that has come

async function begin(name, values = {}, options = {}) {
  stopClock();
  const page = await openLive(name, values, options);
  await page.passes(REST);
  return page;
}
const batch = (kind, terms = {}) => begin("judging/batch", { kind, ...terms });
const overRated = (kind, terms = {}) => begin("judging/batch_over_rated", { kind, ...terms });

/* Press keys one after the other, as somebody who looks at the page in between. */
async function press(page, ...keys) {
  for (const key of keys) {
    page.press(key);
    await page.settled();
    await page.passes(REST);
  }
}

async function write(page, text) {
  page.fill(page.focused, text);
  await page.settled();
  await page.passes(20); // a frame
}

async function click(page, element) {
  page.click(element);
  await page.settled();
  await page.passes(REST);
}

const question = (page) => page.find(".question").textContent;
const notices = (page) => page.find("[data-notices]").textContent.trim();
const content = (page) => page.document.documentElement.outerHTML;
const submitted = () => ask("judging/submitted");
const isHidden = (element) => Boolean(element.closest("[hidden]"));
const scores = (page) => page.all(".scale input").filter(({ checked }) => checked).map(({ name, value }) => name + value);
const answer = (page) => page.find("textarea[name=answers]");
const errorsOf = (page, side) => page.find(`[data-errors-of=${side}]`);

// --- suggestions beside a label --------------------------------------------------------------------------------------

test("a label is one key, and no suggestion follows it", async () => {
  const page = await begin("judging/batch_after_model");
  const said = page.find("askew-said");
  assert.ok(said.hidden);
  assert.doesNotMatch(content(page), /lexical/, "nothing is suggested before the first answer");
  for (const key of "12") {
    const before = question(page);
    await press(page, key);
    assert.notEqual(question(page), before);
    assert.ok(said.hidden);
    assert.doesNotMatch(content(page), /lexical/);
  }
  assert.deepEqual(page.server.sent("GET", "/suggestions/"), []);
  assert.deepEqual((await submitted()).map(({ label }) => label), ["extraction", "reasoning"]);
  assert.ok(!hasLeft(page));
});

test("a batch may suggest before the answer, and gives the reasons then", async () => {
  const page = await batch("question_type", { overlap: 1, settings: { suggestions: "before" } });
  assert.match(page.find("askew-said").textContent, /Suggested/);
  assert.match(page.find("askew-said").textContent, /every answer is a cell/);
  assert.match(page.find("askew-said").textContent, /the lexical rule/);
});

test("a batch that suggests in practice, or never, suggests nothing at work", async () => {
  for (const suggestions of ["after", "never"]) await suggestsNothing({ suggestions });
});

async function suggestsNothing(settings) {
  const page = await batch("question_type", { overlap: 1, settings });
  const before = question(page);
  await press(page, "1");
  assert.notEqual(question(page), before);
  assert.ok(page.find("askew-said").hidden);
  assert.deepEqual(page.server.sent("GET", "/suggestions/"), []);
}

// --- answers and rewordings ------------------------------------------------------------------------------------------

test("an answer is typed and sent with one key; further lines are further answers", async () => {
  const page = await batch("answer_check", { of: "originals", overlap: 1 });
  assert.equal(page.focused, answer(page));
  const enter = new page.window.KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true });
  assert.ok(answer(page).dispatchEvent(enter), "with nothing written, Enter is a line");
  const first = question(page);
  await write(page, "1995");
  await press(page, "Enter");
  assert.notEqual(question(page), first);
  assert.equal(page.focused, answer(page));
  assert.equal(answer(page).value, "");

  const second = question(page);
  await write(page, "Heat");
  const shifted = new page.window.KeyboardEvent("keydown", { key: "Enter", shiftKey: true, bubbles: true, cancelable: true });
  assert.ok(answer(page).dispatchEvent(shifted), "Shift Enter begins a line");
  await write(page, "Heat\nAlien\nStalker");
  await press(page, "Enter");
  assert.equal(question(page), second, "with a second line, Enter is a line");
  await press(page, "Control+Enter");
  assert.notEqual(question(page), second);

  const third = question(page);
  await press(page, "Control+Enter");
  assert.match(notices(page), /Write the answer, or choose/);
  await press(page, "Escape", "0", "Enter");
  assert.notEqual(question(page), third);
  assert.deepEqual(await submitted(), [
    { answers: ["1995"], unanswerable: false },
    { answers: ["Heat", "Alien", "Stalker"], unanswerable: false },
    { answers: [], unanswerable: true },
  ]);
});

test("a category that is pressed before anything is written submits nothing", async () => {
  const page = await batch("question_paraphrase", { variant: "word" });
  const first = question(page);
  const [one, other] = page.all("label").filter(({ control }) => control?.name === "category");
  await click(page, one);
  assert.ok(one.control.checked);
  assert.equal(notices(page), "");
  assert.deepEqual(await submitted(), []);
  page.fill("textarea[name=question]", `tell me ${first}`);
  await page.passes(20);
  await click(page, other);
  assert.notEqual(question(page), first);
  assert.equal((await submitted())[0].category, "reasoning_carrier");
});

test("a paraphrase is its words, Enter and a digit", async () => {
  const page = await batch("question_paraphrase", { variant: "word" });
  const field = () => page.find("textarea[name=question]");
  const wording = () => page.find("[data-wording]");
  const first = question(page);
  assert.equal(page.focused, field());
  assert.equal(field().value, first);
  assert.ok(wording().hidden);
  await press(page, "Enter", "1");
  assert.match(notices(page), /question is unchanged/);
  assert.equal(page.focused, field());
  await write(page, first.replace("when", "in which year"));
  assert.deepEqual([...wording().querySelectorAll("del, ins")].map(({ textContent }) => textContent), ["when", "in which year"]);
  await page.passes(600);
  assert.equal(page.find("[data-told]").textContent, "Without: when");
  await press(page, "Enter");
  assert.notEqual(question(page), first, "the category was chosen before");
  assert.equal(field().value, question(page));
  await page.passes(20);
  assert.ok(wording().hidden);
  assert.equal(page.all("[name=category]").filter(({ checked }) => checked).length, 0);

  const second = question(page);
  await write(page, `tell me ${second}`);
  await page.passes(600);
  assert.equal(page.find("[data-told]").textContent, "Only words were added.");
  await press(page, "Enter");
  assert.equal(page.focused, page.find("[name=category]"));
  await press(page, "2");
  assert.notEqual(question(page), second);
  const sent = await submitted();
  assert.deepEqual(sent.map(({ category }) => category), ["reasoning_synonym", "reasoning_carrier"]);
  assert.match(sent[0].question, /^in which year did/);
  assert.match(sent[1].question, /^tell me when did/);
});

// --- ratings ---------------------------------------------------------------------------------------------------------

test("two scales are two digits, and an undone item two digits again", async () => {
  const page = await overRated("answer_rating", { overlap: 1 });
  const first = question(page);
  for (const kept of ["hidden-system", "The hidden reference"]) assert.ok(!content(page).includes(kept));
  await press(page, "4");
  assert.deepEqual(scores(page), ["faithfulness4"]);
  assert.equal(question(page), first);
  await press(page, "2");
  assert.notEqual(question(page), first);
  assert.deepEqual(scores(page), []);
  await press(page, "u");
  assert.equal(question(page), first);
  assert.equal(scores(page).length, 2);
  await press(page, "5");
  assert.equal(question(page), first, "the second scale is asked for once more");
  await press(page, "5");
  assert.notEqual(question(page), first);
  assert.deepEqual(await submitted(), [{ faithfulness: 4, comprehensiveness: 2 }, { faithfulness: 5, comprehensiveness: 5 }]);
});

test("another answer to the same question says so and moves in", async () => {
  const page = await begin("judging/batch_over_answers", { questions: ["which film?", "which film?", "which film?"] });
  const words = page.find("[data-same-question]");
  const moves = () => page.find(".rated").classList.contains("replaced");
  assert.ok(words.hidden);
  assert.ok(!moves());
  for (const number of [2, 3]) {
    await press(page, "5", "4");
    assert.equal(words.textContent, `Same question, another answer: ${number} of 3`);
    assert.ok(!words.hidden);
    assert.ok(moves());
    assert.ok(page.find("[data-announce]").textContent.includes(`${number} of 3. ${page.find("[data-show=rated_answer]").textContent}`));
  }
  await press(page, "u");
  assert.equal(words.textContent, "Same question, another answer: 2 of 3");
});

test("another question does not move in", async () => {
  const page = await begin("judging/batch_over_answers", { questions: ["which is longest?", "which is shortest?"] });
  const before = question(page);
  await press(page, "5", "4");
  assert.notEqual(question(page), before);
  assert.ok(page.find("[data-same-question]").hidden);
  assert.ok(!page.find(".rated").classList.contains("replaced"));
});

test("the reference is shown only where the batch says so", async () => {
  const page = await overRated("answer_rating", { settings: { show_reference: true } });
  assert.match(page.find("main").textContent, /The hidden reference/);
  assert.match(page.find("main").textContent, /Long films/);
  assert.ok(!content(page).includes("hidden-system"));
});

// --- changed examples compared ---------------------------------------------------------------------------------------

test("a pair is three digits, and the changes are marked", async () => {
  const page = await begin("judging/pair");
  const left = page.find("[data-verdict=left]");
  assert.equal(question(page), "when did Heat come out (0)?");
  assert.equal(page.all("askew-comparison td.changed").length, 1);
  assert.match(page.find("askew-comparison td.changed del").textContent, /1995/);
  const texts = page.texts("askew-comparison td.changed ins");
  assert.deepEqual(texts.map((text) => text.match(/1996|2006/)[0]).sort(), ["1996", "2006"]);
  assert.equal(left.querySelector("[data-old-answers]").textContent, "1995");
  const ofLeft = texts.find((text) => text.includes("L")).match(/1996|2006/)[0];
  assert.equal(left.querySelector("[data-new-answers]").textContent, ofLeft);
  assert.ok([...left.querySelectorAll("[data-title]")].every(({ textContent }) => textContent === "Example L"));
  assert.ok(left.querySelector("[data-wording]").hidden, "it heads the page already");
  assert.ok(isHidden(errorsOf(page, "left")) && isHidden(errorsOf(page, "right")));
  await press(page, "5", "4", "1");
  assert.deepEqual((await submitted()).at(-1), { left: 5, right: 4, better: "left", left_errors: [], right_errors: [] });
  assert.ok(hasLeft(page));
});

test("changes are jumped to, and tables turned, from anywhere on the page", async () => {
  const page = await begin("judging/pair");
  assert.equal(page.focused, page.find(".question"));
  await press(page, "n");
  assert.ok(page.find("askew-comparison [data-here]").classList.contains("changed"));
  assert.match(page.find("askew-comparison askew-grid > [role=status]").textContent, /Change 1 of 1\. Row 1, Year: was 1995; /);
  assert.equal(page.focused, page.find(".question"));
  await press(page, "v");
  assert.equal(page.all("askew-comparison .sheet").length, 2);
  assert.deepEqual(page.texts("askew-comparison td ins").map((text) => text.match(/1996|2006/)[0]).sort(), ["1996", "2006"]);
  await click(page, page.all("button").find(({ textContent }) => textContent.startsWith("One table")));
  assert.equal(page.all("askew-comparison .sheet").length, 1);
  assert.match(page.focused.textContent, /^Two tables/);
});

test("a digit that the question does not have changes nothing", async () => {
  const page = await begin("judging/pair");
  await press(page, "4", "4");
  for (const digit of ["5", "4"]) {
    await press(page, digit);
    assert.match(notices(page), new RegExp(`“Better” has no option ${digit}\\. Nothing was changed\\.`));
    assert.deepEqual(scores(page), ["left4", "right4"]);
  }
  await press(page, "1");
  const { left, right, better } = (await submitted()).at(-1);
  assert.deepEqual([left, right, better], [4, 4, "left"]);
  assert.ok(hasLeft(page));
});

test("a score that was given is changed by going to it", async () => {
  const page = await begin("judging/pair");
  await press(page, "1", "4", "2");
  assert.match(notices(page), /Choose what is wrong with example L/);
  await press(page, "5");
  assert.match(notices(page), /Every question is answered\. Go to the one you want to change\./);
  const choices = page.all(".panel input[type=radio]").filter(({ checked }) => checked).map(({ name, value }) => name + value);
  assert.deepEqual(choices, ["left1", "right4", "bettertie"]);
  page.find("input[name=right]:checked").focus();
  await press(page, "2");
  assert.ok(!isHidden(errorsOf(page, "right")));
  page.find("input[name=left]:checked").focus();
  await press(page, "3");
  assert.equal((await submitted()).filter((data) => "better" in data).length, 0);
  assert.ok(isHidden(errorsOf(page, "left")));
  assert.match(notices(page), /Choose what is wrong with example R/);
});

test("a low score asks what is wrong", async () => {
  const page = await begin("judging/pair");
  await press(page, "5", "2");
  assert.ok(!isHidden(errorsOf(page, "right")));
  assert.ok(isHidden(errorsOf(page, "left")));
  await press(page, "1");
  assert.match(notices(page), /Choose what is wrong with example R/);
  await press(page, "d");
  assert.equal([...errorsOf(page, "right").querySelectorAll("input")].filter(({ checked }) => checked).length, 1);
  await press(page, "Enter");
  const data = (await submitted()).at(-1);
  assert.deepEqual([data.left_errors, data.right_errors], [[], ["invented"]]);
  assert.ok(hasLeft(page));
});

test("one changed example alone is one digit, and nothing is called left", async () => {
  const page = await begin("judging/single");
  assert.ok(isHidden(page.find("[data-verdict=right]")));
  assert.match(page.find("askew-comparison td.changed ins").textContent, /^1996$/);
  assert.ok(isHidden(page.find("[data-field=better]")));
  assert.deepEqual([...new Set(page.texts("[data-verdict=left] [data-title]"))], ["Changed example"]);
  const shown = page.all(".panel *").filter((element) => !element.children.length && !isHidden(element)).map(({ textContent }) => textContent);
  assert.ok(!shown.some((text) => text.includes("Example L")));
  await press(page, "Enter");
  assert.match(notices(page), /Rate the example from 1 to 5\./);
  await press(page, "4");
  assert.deepEqual((await submitted()).at(-1), { left: 4, right: null, better: "", left_errors: [], right_errors: [] });
  assert.ok(hasLeft(page));
});

// --- causes and screening --------------------------------------------------------------------------------------------

test("causes are digits and Enter", async () => {
  const page = await overRated("metric_failure", { size: 2, overlap: 1 });
  const first = question(page);
  const main = page.find("main").textContent;
  for (const words of [/BLEU gives it 0\./, /People give it /, /The hidden reference/]) assert.match(main, words);
  assert.ok(!content(page).includes("hidden-system"));
  assert.deepEqual(page.all("meter").map((meter) => meter.getAttribute("aria-label")), ["BLEU", "People"]);
  assert.match(page.find("[data-rank=people]").textContent, /rank 3 of 3/);
  await press(page, "6", "4", "4", "7", "Enter");
  assert.notEqual(question(page), first);
  await press(page, "8", "Enter");
  assert.match(notices(page), /Describe the cause in the note/);
  assert.equal(page.focused.name, "note");
  await write(page, "people erred");
  await press(page, "Control+Enter");
  assert.deepEqual(await submitted(), [
    { causes: ["answer_length", "answer_structure"], note: "" },
    { causes: ["other"], note: "people erred" },
  ]);
  assert.ok(hasLeft(page));
});

test("keeping a question is one key", async () => {
  const page = await overRated("question_screening");
  for (const key of "12") {
    assert.match(page.find("main").textContent, /4 of 4 samples right/);
    const before = question(page);
    await press(page, key);
    assert.notEqual(question(page), before);
  }
  assert.deepEqual((await submitted()).map(({ label }) => label), ["keep", "remove"]);
});

// --- wordings --------------------------------------------------------------------------------------------------------

const WORDINGS = [
  ["which film came first?", "which movie came first?"],
  ["when did Heat come out (0)?", "in which year was Heat released (0)?"],
  ["a b c", "a b c"],
  ["", "new"],
  ["old", ""],
  ["Was it 1,204.5?", "was it 1,204.6?"],
  ["  two  blanks ", "two blanks"],
  ["ما هو الفيلم؟", "ما هي المدينة؟"],
  ["cafe\u0301 o'neill", "café o’neill"],
  ["x ".repeat(400), "y ".repeat(300)],
];

test("a wording and its changes are put together again", async () => {
  await openPage("<main></main>", { scripts: [] });
  const { changesOfWords } = await load("askew/wording.js");
  const bare = (text) => text.replace(/\s/g, "").toLowerCase();
  for (const [before, after] of WORDINGS) {
    const parts = changesOfWords(before, after);
    const without = (kind) => parts.filter((part) => part.kind !== kind).map(({ text }) => text).join("");
    assert.equal(without("removed"), after);
    assert.equal(bare(without("added")), bare(before));
    assert.ok(parts.every((part, at) => !at || part.kind !== parts[at - 1].kind));
  }
  const [film, , same] = WORDINGS.map(([before, after]) => changesOfWords(before, after).map(({ kind, text }) => [kind, text.trim()]));
  assert.deepEqual(film, [["same", "which"], ["removed", "film"], ["added", "movie"], ["same", "came first?"]]);
  assert.deepEqual(same.map(([kind]) => kind), ["same"]);
});
