/* <askew-prediction>: what the line of the model says for a reply, and that nobody waits for it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { answers, box, line, options, part, passes, state, textOf, typed } from "./model.js";
import { data, openPage } from "./page.js";

const REPLIES = data("prediction/paraphrase_replies");
const SLOW = data("prediction/slow_replies");
const CELLS = data("prediction/cell_relevance_replies");
const EDITS = data("prediction/value_change_replies");
const PRACTICE = data("prediction/practice_reply");
const SUBMITTED = data("prediction/submitted");
const RIGHT = "which year saw it in cinemas?";
const FOOLING = "in which year was it released?";
const CONTINUE = "You can continue and submit.";

const SUBMITS = { "POST /submit/": { status: 201, body: SUBMITTED } };

/* The reply that the server gave to this question. */
function byQuestion({ body: { kind, response } }) {
  const { question } = response.data;
  const isFooling = question === FOOLING;
  if (kind === "try") return isFooling ? REPLIES.checked_fooled : REPLIES.checked;
  return isFooling ? REPLIES.fooled : question === RIGHT ? REPLIES.right : REPLIES.original;
}

const GREEN = ".prediction[data-verdict=fooled] [data-part=line]:has(> .verified)"; // as in askew.css
const asked = (page) => page.server.sent("POST", "/predictions/");
const kinds = (page) => asked(page).map(({ body }) => body.kind);

test("the answer to the original is there before anybody types", async () => {
  const page = await openPage("prediction/paraphrase", options(byQuestion));
  assert.equal(state(page), "idle");
  assert.equal(textOf(page, "line"), "");
  await passes(page, 100);
  assert.equal(state(page), "answered");
  assert.deepEqual(line(page), ["Right on the original", "1995", "fairly sure75 %"]);
  assert.match(textOf(page, "words"), /answers the original correctly/);
  assert.equal(part(page, "looks").hidden, false);
  assert.equal(part(page, "perturbed").hidden, true);
  assert.equal(box(page).hidden, false);
});

test("a preview is asked for 300 ms after the last letter, once the draft is saved", async () => {
  const page = await openPage("prediction/paraphrase", options(byQuestion));
  await passes(page, 100);
  await typed(page, RIGHT);
  assert.equal(state(page), "stale");
  assert.deepEqual(line(page), ["Right on the original", "1995", "fairly sure75 %"], "the line of the last answer stays");
  assert.equal(textOf(page, "words"), "This model answer is for an earlier version.");
  await passes(page, 200);
  assert.equal(asked(page).length, 1, "somebody is still typing");
  await passes(page, 150);
  assert.equal(state(page), "answered");
  assert.deepEqual(kinds(page), ["preview", "preview"]);
  const sent = page.server.requests.map(({ method, path }) => `${method} ${path.split("/").at(-2)}`);
  assert.ok(sent.indexOf("PUT draft") < sent.lastIndexOf("POST predictions"), "what was typed is safe first");
  assert.equal(page.server.sent("PUT", "/draft/")[0].body.response.data.question, RIGHT);
  assert.deepEqual(answers(page), ["1995", "1995"]);
  assert.deepEqual(line(page), ["Still right", "1995", "fairly sure75 %", "unverified"]);
  assert.equal(part(page, "perturbed").querySelector(".state").dataset.kind, "open", "right, but not verified");
  assert.equal(page.all("td.looked").length, 1);
  assert.match(textOf(page, "facts"), /fairly sure \(75 %\).* · used .*Year/);
});

test("neither a preview nor a check overtakes the draft", async () => {
  let saved = null;
  const page = await openPage("prediction/paraphrase", options(byQuestion, { "PUT /draft/": () => new Promise((resolve) => { saved = resolve; }) }));
  await passes(page, 100);
  await typed(page, RIGHT);
  await passes(page, 1_000);
  assert.deepEqual(kinds(page), ["preview"], "of the original");
  page.press("Enter");
  await page.settled();
  assert.deepEqual(kinds(page), ["preview"]);
  saved({ revision: 1, saved_at: "2026-03-02T12:00:00Z", violations: [] });
  await page.settled();
  assert.deepEqual(kinds(page), ["preview", "try"]);
});

test("while the model is asked, the last answer stays and the element is busy", async () => {
  let reply = null;
  const predictions = (request) => (request.body.response.data.question === RIGHT ? new Promise((resolve) => { reply = resolve; }) : REPLIES.original);
  const page = await openPage("prediction/paraphrase", options(predictions));
  await passes(page, 100);
  await typed(page, RIGHT);
  await passes(page, 350);
  assert.equal(state(page), "stale", "a quick answer is not announced");
  await passes(page, 300);
  assert.equal(state(page), "waiting");
  assert.equal(box(page).getAttribute("aria-busy"), "true");
  assert.deepEqual(line(page), ["Right on the original", "1995", "fairly sure75 %"]);
  reply(REPLIES.right);
  await page.settled();
  assert.equal(state(page), "answered");
  assert.equal(box(page).getAttribute("aria-busy"), "false");
});

test("an answer that comes after a further letter is not shown for the new text", async () => {
  const held = [];
  const predictions = ({ body }) => (body.response.data.question.startsWith("in which") ? new Promise((resolve) => { held.push(resolve); }) : byQuestion({ body }));
  const page = await openPage("prediction/paraphrase", options(predictions));
  await passes(page, 100);
  await typed(page, FOOLING);
  await passes(page, 400);
  assert.equal(held.length, 1);
  await typed(page, RIGHT);
  held[0](REPLIES.fooled);
  await page.settled();
  assert.notEqual(box(page).dataset.verdict, "fooled");
  await passes(page, 400);
  assert.equal(box(page).dataset.verdict, "not_fooled");
});

test("Enter asks for the verdict, a digit submits, and the next item shows nothing of it", async () => {
  const page = await openPage("prediction/paraphrase", options(byQuestion, SUBMITS));
  await passes(page, 100);
  const question = page.find(".question").textContent;
  await typed(page, RIGHT);
  page.press("Enter");
  await page.settled();
  assert.equal(kinds(page).at(-1), "try");
  assert.equal(textOf(page, "tries"), "1 check");
  assert.equal(page.focused, page.find("[name=category]"));
  assert.equal(page.server.sent("POST", "/submit/").length, 0);
  page.press("1");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/")[0].body.response.data.question, RIGHT);
  assert.notEqual(page.find(".question").textContent, question);
  assert.equal(page.find(".question").textContent, SUBMITTED.next.shows.question);
  assert.equal(textOf(page, "line"), "");
  assert.equal(textOf(page, "tries"), "");
  assert.equal(box(page).dataset.verdict, "");
  assert.equal(state(page), "idle");
  assert.equal(part(page, "looks").hidden, true);
  for (const name of ["words", "facts", "time", "today"]) assert.equal(textOf(page, name), "", name);
  assert.equal(page.all("td.looked").length, 0);
  const before = asked(page).length;
  await passes(page, 100);
  assert.ok(asked(page).at(-1).path.includes(SUBMITTED.next.id));
  assert.equal(asked(page).length, before + 1);
});

test("after a verdict a letter leads back to the words, which can be checked again", async () => {
  const page = await openPage("prediction/paraphrase", options(byQuestion, SUBMITS));
  await passes(page, 100);
  await typed(page, RIGHT);
  page.press("Enter");
  await page.settled();
  page.press("w");
  const words = page.find("textarea[name=question]");
  assert.equal(page.focused, words);
  assert.equal(words.value, RIGHT);
  await typed(page, FOOLING);
  page.press("Enter");
  await page.settled();
  assert.equal(textOf(page, "tries"), "2 checks");
  assert.equal(page.server.sent("POST", "/submit/").length, 0);
  page.press("2");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/")[0].body.response.data.category, "reasoning_carrier");
});

test("with the change named before, Enter checks and the next Enter submits", async () => {
  const page = await openPage("prediction/paraphrase", options(byQuestion, SUBMITS));
  await passes(page, 100);
  choose(page, "[name=category]");
  await typed(page, RIGHT);
  page.press("Enter");
  await page.settled();
  assert.equal(textOf(page, "tries"), "1 check");
  assert.equal(page.server.sent("POST", "/submit/").length, 0);
  page.press("Enter");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
});

/* Choose as an arrow key does: no key and no pointer submits. */
function choose(page, selector) {
  const input = page.find(selector);
  input.focus();
  input.checked = true;
  input.dispatchEvent(new page.window.Event("change", { bubbles: true }));
}

test("the details have the next best answers and the margin of the first", async () => {
  const page = await openPage("prediction/paraphrase", options(byQuestion));
  await passes(page, 100);
  assert.match(textOf(page, "facts"), /^fairly sure \(75 %\)/);
  assert.doesNotMatch(textOf(page, "facts"), /next:/);
  await typed(page, FOOLING);
  await passes(page, 400);
  assert.match(textOf(page, "facts"), /next: 1979 \(15 %\), Stalker \| Alien \(5 %\); margin 60 points/);
});

test("only what the model is asked about is a new question, and what comes back needs no new answer", async () => {
  const page = await openPage("prediction/paraphrase", options(byQuestion));
  await passes(page, 100);
  await typed(page, RIGHT);
  await passes(page, 400);
  const before = asked(page).length;
  choose(page, "[name=category]");
  await passes(page, 500);
  assert.equal(state(page), "answered");
  assert.equal(asked(page).length, before, "what was changed is not asked about");
  await typed(page, `${RIGHT}!`);
  assert.equal(state(page), "stale");
  await typed(page, RIGHT);
  assert.equal(state(page), "answered");
  await passes(page, 500);
  assert.equal(asked(page).length, before);
});

for (const name of ["unavailable", "busy"]) {
  test(`beside a model that is ${name}, typing, saving and submitting go on, and it comes back by itself`, async () => {
    let current = REPLIES[name];
    const page = await openPage("prediction/paraphrase", options((request) => current ?? byQuestion(request), SUBMITS));
    await typed(page, RIGHT);
    await passes(page, 400);
    assert.match(page.find("[data-saved]").textContent, /^Saved/);
    assert.equal(state(page), name);
    assert.match(textOf(page, "words"), /You can continue and submit\.$/);
    assert.deepEqual(line(page), [{ unavailable: "No answer from the model", busy: "The model is busy" }[name]]);
    assert.equal(part(page, "looks").hidden, true);
    page.press("Escape", "1");
    await page.settled();
    assert.equal(page.server.sent("POST", "/submit/")[0].body.response.data.question, RIGHT);
    await passes(page, 100);
    assert.equal(state(page), name);
    current = null;
    await passes(page, 1_800);
    assert.equal(state(page), name, "it is left alone for two seconds");
    await passes(page, 400);
    assert.equal(state(page), "answered");
  });
}

test("a model that stays away is asked more and more rarely", async () => {
  const page = await openPage("prediction/paraphrase", options(REPLIES.unavailable));
  await passes(page, 100);
  const seen = [];
  for (let second = 0; second < 60; second += 1) {
    await passes(page, 1_000);
    seen.push(asked(page).length);
  }
  assert.deepEqual([0, 2, 6, 14, 29, 44].map((second) => seen[second]), [1, 2, 3, 4, 5, 6], "after 2, 4, 8, 15, 15 seconds");
});

test("a table that no model reads is named, and can be submitted", async () => {
  const page = await openPage("prediction/paraphrase", options(REPLIES.too_large, SUBMITS));
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.equal(box(page).dataset.verdict, "model_error");
  assert.deepEqual(line(page), ["No usable answer"]);
  assert.match(textOf(page, "words"), /5,000 rows/);
  assert.equal(part(page, "looks").hidden, true);
  page.press("Escape", "1");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
});

test("while the server is away, nobody is told to submit", async () => {
  let isAway = false;
  const page = await openPage("prediction/paraphrase", options((request) => (isAway ? new TypeError("failed") : byQuestion(request))));
  await passes(page, 100);
  isAway = true;
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.equal(textOf(page, "words"), "The server cannot be reached. Retrying soon. The answers above are for an earlier version.");
  isAway = false;
  await passes(page, 2_100);
  assert.equal(state(page), "answered");
});

for (const keys of [["Escape", "c"], ["Enter"]]) {
  test(`a check with ${keys.join(", ")} while the model is away is counted once it is back`, async () => {
    let isAway = false;
    const page = await openPage("prediction/paraphrase", options((request) => (isAway ? REPLIES.unavailable : byQuestion(request))));
    await typed(page, RIGHT);
    await passes(page, 400);
    isAway = true;
    await typed(page, "what year did one first see it?");
    await passes(page, 400);
    assert.equal(state(page), "unavailable");
    page.press(...keys);
    await page.settled();
    if (keys[0] === "Enter") assert.equal(page.focused, page.find("[name=category]"));
    assert.equal(state(page), "unavailable");
    assert.equal(textOf(page, "words"), `The model failed on this question. ${CONTINUE} The answers above are for an earlier version.`);
    assert.equal(textOf(page, "tries"), "");
    isAway = false;
    const before = asked(page).length;
    await passes(page, 2_100);
    assert.equal(textOf(page, "tries"), "1 check");
    assert.equal(state(page), "answered");
    assert.doesNotMatch(textOf(page, "words"), /earlier version/);
    assert.deepEqual(kinds(page).slice(before), ["try"]);
  });
}

test("a check that got no answer is made again with the next Enter, and with the change named Enter submits beside it", async () => {
  const page = await openPage("prediction/paraphrase", options(REPLIES.unavailable, SUBMITS));
  await typed(page, RIGHT);
  await passes(page, 400);
  page.press("Enter");
  await page.settled();
  page.press("w", "Enter");
  await page.settled();
  assert.deepEqual(kinds(page).slice(-2), ["try", "try"]);
  choose(page, "[name=category]");
  page.press("w", "Enter");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1, "nobody waits for a model that is away");
});

test("a model that was exchanged gives no verdict, and the item can be submitted", async () => {
  let isOther = false;
  const page = await openPage("prediction/paraphrase", options((request) => (isOther ? REPLIES.changed : byQuestion(request)), SUBMITS));
  await passes(page, 100);
  isOther = true;
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.equal(state(page), "changed");
  assert.match(textOf(page, "words"), /there is no verdict/);
  assert.deepEqual(line(page), ["The model has changed: no verdict"]);
  assert.equal(page.all("td.looked").length, 0);
  page.press("Enter");
  await page.settled();
  assert.ok(!kinds(page).includes("try"), "Enter does not ask it again");
  page.press("1");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
});

test("a slow model is asked on Enter alone, and its answer is fetched when it is there", async () => {
  let reply = SLOW.slow;
  const page = await openPage("prediction/paraphrase", options(() => reply));
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.equal(state(page), "slow");
  assert.deepEqual(line(page), ["The model has not been asked yet"]);
  reply = SLOW.waiting;
  page.press("Enter");
  await page.settled();
  assert.equal(state(page), "waiting");
  assert.match(textOf(page, "words"), /Waiting for the model/);
  reply = SLOW.answered;
  await passes(page, 1_400);
  assert.equal(state(page), "waiting");
  await passes(page, 200);
  assert.equal(state(page), "answered");
  assert.deepEqual(kinds(page).slice(-2), ["try", "try"]);
  assert.deepEqual(answers(page), ["1995", "1995"]);
  assert.equal(textOf(page, "time"), "", "how long an answer took in the background is not known here");
});

test("a language model that gives no list of answers is said to", async () => {
  let reply = SLOW.slow;
  const page = await openPage("prediction/paraphrase", options(() => reply, SUBMITS));
  await typed(page, RIGHT);
  await passes(page, 400);
  reply = SLOW.unread;
  page.press("Enter");
  await page.settled();
  assert.equal(box(page).dataset.verdict, "model_error");
  assert.match(textOf(page, "words"), /did not return a list of answers for the original after 3 requests/);
  assert.equal(page.find("[data-part=original] .state").hidden, true);
  page.press("Escape", "1");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
});

test("without a model there is nothing to look at, and nobody is asked", async () => {
  const page = await openPage("prediction/paraphrase_without_model", options(new TypeError("nobody is asked"), SUBMITS));
  assert.equal(box(page).hidden, true);
  await typed(page, "name the year of it.");
  page.press("Enter");
  await passes(page, 1_000);
  page.press("1");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
  assert.deepEqual(asked(page), []);
});

test("answers are text, whatever they say", async () => {
  const page = await openPage("prediction/paraphrase", options(REPLIES.markup));
  await passes(page, 100);
  assert.deepEqual(answers(page), ["<img src=x onerror=alert(1)>", "<b>1979</b>"]);
  assert.equal(page.all("askew-prediction :is(img, b)").length, 0);
});

test("an edit of the table is looked at as it is made, and judged once the new answer is there", async () => {
  const predictions = ({ body: { kind, response } }) => {
    const { operations, answers: entered } = response.data;
    if (!operations.length) return EDITS.original;
    return kind === "try" ? EDITS.checked : entered.length ? EDITS.right : EDITS.pending;
  };
  const page = await openPage("prediction/value_change", options(predictions));
  await passes(page, 100);
  page.click("[data-row=r0] [data-column=c1]");
  page.press("2");
  page.fill(page.focused, "2002");
  page.press("Enter");
  await passes(page, 500);
  assert.equal(asked(page).at(-1).body.response.data.operations[0].new, "2002");
  assert.equal(textOf(page, "words"), "Enter the correct answer after your change to check the model.");
  assert.deepEqual(line(page)[0], "Enter the new answer");
  page.fill("textarea[name=answers]", "2002");
  await passes(page, 500);
  assert.equal(box(page).dataset.verdict, "not_fooled");
  assert.deepEqual(answers(page), ["1995", "2002"]);
  page.press("Escape", "c");
  await page.settled();
  assert.equal(kinds(page).at(-1), "try");
  assert.equal(textOf(page, "tries"), "2 checks");
});

test("a check of the unchanged item keeps the answer to it", async () => {
  const page = await openPage("prediction/value_change", options(({ body }) => (body.kind === "try" ? EDITS.nothing : EDITS.original)));
  await passes(page, 100);
  const before = line(page);
  await box(page).check();
  assert.equal(kinds(page).at(-1), "try");
  assert.equal(state(page), "answered");
  assert.deepEqual(line(page), before);
  assert.equal(before[0], "Right on the original");
});

test("the marked cells are left out on request, and not before", async () => {
  const page = await openPage("prediction/cell_relevance", options(CELLS.other, SUBMITS));
  await passes(page, 1_000);
  assert.equal(state(page), "idle");
  assert.equal(textOf(page, "words"), "The model answers when you ask it.");
  assert.deepEqual(asked(page), []);
  page.press("c");
  await page.settled();
  assert.equal(state(page), "answered");
  assert.deepEqual(answers(page), ["1979", "1995"]);
  assert.deepEqual(line(page).slice(0, 2), ["Wrong without the cells", "1995"]);
  assert.equal(textOf(page, "words"), "Wrong without the cells");
  page.press("1");
  await page.settled();
  assert.equal(page.server.sent("POST", "/submit/").length, 1);
});

test("cells that are checked while the model is away are looked at when it is back", async () => {
  let reply = CELLS.unavailable;
  const page = await openPage("prediction/cell_relevance", options(() => reply));
  page.press("c");
  await page.settled();
  assert.equal(state(page), "unavailable");
  reply = CELLS.other;
  await passes(page, 2_100);
  assert.equal(textOf(page, "tries"), "1 check");
  assert.equal(state(page), "answered");
});

for (const name of ["none", "blank"]) {
  test(`a model that gives no answer is said to give none (${name})`, async () => {
    const page = await openPage("prediction/cell_relevance", options(CELLS[name]));
    page.press("c");
    await page.settled();
    assert.deepEqual(answers(page), ["1979", "no answer"]);
    assert.deepEqual(line(page).slice(0, 2), ["Wrong without the cells", "no answer"]);
    const states = page.all(".looks :is([data-part=original], [data-part=perturbed]) .state");
    assert.deepEqual(states.map(({ textContent, dataset, hidden }) => [textContent, dataset.kind, hidden]), [["right", "good", false], ["wrong", "bad", false]]);
  });
}

test("in practice a model looks along, and nothing is saved", async () => {
  const page = await openPage("prediction/practice", options(PRACTICE));
  await passes(page, 100);
  assert.equal(state(page), "answered");
  await typed(page, "something quite different?");
  page.press("Enter");
  await page.settled();
  assert.equal(part(page, "perturbed").hidden, false);
  assert.equal(textOf(page, "tries"), "Practice: nothing is saved");
  assert.ok(asked(page).every(({ path }) => path === "/api/projects/films/practice/question_paraphrase/predictions/"));
  assert.deepEqual([asked(page).at(-1).body.variant, asked(page).at(-1).body.number], ["word", 1]);
  assert.equal(page.server.sent("PUT", "/draft/").length, 0);
});

test("fooling the model is no moment as long as nothing verifies the answer", async () => {
  const page = await openPage("prediction/paraphrase", options(byQuestion));
  await passes(page, 100);
  await typed(page, FOOLING);
  await passes(page, 400);
  assert.equal(box(page).dataset.verdict, "fooled");
  assert.deepEqual(line(page), ["Fooled", "1900", "expected: 1995≠ 1995", "fairly sure75 %", "unverified"]);
  assert.equal(page.all(GREEN).length, 0, "nothing is green that nobody verified");
  const confidence = page.find(".says .confidence");
  assert.equal(confidence.querySelector(".in-short").textContent, "75 %");
  assert.equal(confidence.title, "fairly sure");
  page.press("Enter");
  await page.settled();
  assert.equal(textOf(page, "tries"), "2 checks");
  assert.equal(box(page).dataset.verdict, "fooled");
  assert.equal(textOf(page, "today"), "");
  assert.equal(box(page).hasAttribute("data-moment"), false);
});

test("a check that verifiably fools the model is a moment with the count of today, a preview is none", async () => {
  const page = await openPage("prediction/value_change", options(({ body }) => (body.kind === "try" ? EDITS.fooled : EDITS.verified)));
  await passes(page, 100);
  assert.equal(box(page).dataset.verdict, "fooled");
  assert.equal(line(page).at(-1), "verified");
  assert.equal(page.all(GREEN).length, 1);
  assert.equal(textOf(page, "today"), "");
  assert.equal(box(page).hasAttribute("data-moment"), false);
  page.press("Escape", "c");
  await page.settled();
  assert.equal(textOf(page, "today"), "1 today");
  assert.equal(box(page).hasAttribute("data-moment"), true);
  assert.match(textOf(page, "facts"), /^meaning confirmed by the program · /);
  page.fill("textarea[name=answers]", "2002");
  await passes(page, 100);
  assert.equal(state(page), "stale");
  assert.equal(box(page).hasAttribute("data-moment"), false);
});

test("an item that the model already gets wrong has one quiet line, and the rest in the details", async () => {
  const page = await openPage("prediction/paraphrase", options(({ body }) => (body.response.data.question === RIGHT ? REPLIES.still_wrong : REPLIES.wrong_already)));
  await passes(page, 100);
  assert.deepEqual(line(page), ["Model already wrong; change it anyway."]);
  assert.equal(box(page).dataset.verdict, "wrong_on_original");
  assert.match(textOf(page, "words"), /A correct change of the question or table is enough\./);
  assert.equal(part(page, "expected").hidden, false);
  assert.deepEqual(page.texts("[data-part=expected] li"), ["1995"]);
  assert.equal(textOf(page, "name"), "small · MIT");
  assert.match(textOf(page, "time"), /^\d+ ms$/);
  await typed(page, RIGHT);
  await passes(page, 400);
  assert.equal(box(page).dataset.verdict, "wrong_on_original");
  assert.deepEqual(line(page), ["Model already wrong; change it anyway."]);
});
