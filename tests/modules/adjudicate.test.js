/* <askew-adjudicate>: an adjudicator's items one after the other, by keys. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, hasLeft, hold, onward, openLive, reload, stopClock } from "./live.js";

const REST = 251; // ms after which keys act on an item that has come
const BACK = ["s", "b", "Enter"]; // keys that lead to the note for the author of B

async function begin(name, values, options = {}) {
  stopClock();
  const page = await openLive(name, values, options);
  await page.settled();
  return page;
}
const labels = (items, values = {}, options = {}) => begin("adjudication/labels", { items, ...values }, options);

/* Press keys one after the other, as somebody who waits until the item is ready. */
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
}

async function sendBack(page) {
  await press(page, ...BACK);
  await write(page, "Look at the years again.");
  await press(page, "Control+Enter");
}

const shown = (page) => page.document.querySelector("form.decision")?.dataset.itemId ?? null;
const heading = (page) => page.texts("askew-adjudicate .caught-up :is(h1, h2)")[0];
const notices = (page) => page.find("[data-notices]").textContent.trim();
const sign = (page) => page.find("[data-ignored]").textContent;
const chosen = (page) => page.all("input[name=choose]").filter(({ checked }) => checked).map(({ value }) => value);
const openPanels = (page) => page.all("details[data-panel][open]").map(({ dataset }) => dataset.panel);
const note = (page) => page.find("textarea[name=note]");
const reason = (page) => page.find("[name=exclude]");
const decisions = () => ask("adjudication/decisions");
const sentBack = () => ask("adjudication/sent_back");
const queue = () => ask("adjudication/queue");
const labelOf = async (item, letter) => {
  const letters = await ask("adjudication/letters", { item });
  return Object.keys(letters).find((label) => letters[label] === letter);
};

// --- undo ------------------------------------------------------------------------------------------------------------

test("keys decide item after item with a letter, a listed reason, an exclusion and a later decision", async () => {
  const page = await labels(4);
  const items = await queue();
  const where = () => page.find("[data-where]").textContent;
  assert.match(where(), /4 waiting, 0 decided in this sitting/);
  assert.equal(page.focused, page.find(".question"));
  const letter = (await ask("adjudication/letters", { item: items[0] })).extraction;
  await press(page, letter.toLowerCase(), "Enter");
  assert.equal(shown(page), items[1]);
  await press(page, "a", "3");
  assert.equal(shown(page), items[2]);
  assert.match(where(), /2 waiting, 2 decided in this sitting/);
  assert.match(page.window.location.pathname, new RegExp(items[2]));
  await press(page, "l");
  assert.equal(shown(page), items[3]);
  await press(page, "x");
  await write(page, "The question is about another table.");
  await press(page, "Control+Enter");
  assert.equal(shown(page), items[2]);

  const [first, second, third] = await decisions();
  assert.deepEqual(first.data, [{ label: "extraction" }]);
  assert.equal(second.listed, "Clearest of several correct responses");
  assert.deepEqual([third.item, third.kind], [items[3], "excluded"]);
});

test("one queue leads through all batches of the project and undo goes back", async () => {
  const page = await labels(1, { another: true });
  const [item, elsewhere] = await queue();
  await press(page, "a", "Enter");
  assert.equal(shown(page), elsewhere);
  assert.match(page.find("[data-where]").textContent, /Adjudication: Another batch/);
  assert.match(page.find("[data-where]").textContent, /1 waiting, 1 decided in this sitting/);
  await press(page, "u");
  assert.equal(shown(page), item);
  assert.match(page.find("[data-where]").textContent, /2 waiting, 0 decided in this sitting/);
  await press(page, "Enter", "a", "Enter");
  assert.equal(heading(page), "All caught up");
});

test("after the last decision Enter stays where undo works", async () => {
  const page = await labels(1);
  const [item] = await queue();
  await press(page, "a", "Enter");
  assert.equal(heading(page), "All caught up");
  await press(page, "Enter", "Enter");
  assert.deepEqual(page.left, []);
  await press(page, "u");
  assert.equal(shown(page), item);
  assert.deepEqual(await decisions(), []);
});

test("the key of undo takes back sending back and then the decision before it", async () => {
  const page = await labels(3);
  const [first, second, third] = await queue();
  await press(page, "a", "Enter");
  await sendBack(page);
  assert.equal(shown(page), third);
  assert.deepEqual(await sentBack(), ["Look at the years again."]);

  await press(page, "u");
  assert.equal(shown(page), second);
  assert.equal(sign(page), "Sending back undone.");
  assert.equal(page.texts("[role=status]").filter((text) => text.includes("Sending back undone.")).length, 1);
  assert.deepEqual(openPanels(page), []);
  assert.deepEqual(await sentBack(), []);
  assert.deepEqual((await decisions()).map(({ item }) => item), [first]);

  await press(page, "u");
  assert.equal(shown(page), first);
  assert.equal(sign(page), "Decision undone.");
  assert.deepEqual(await decisions(), []);
});

for (const isReloaded of [true, false]) {
  test(`once the author has continued undo passes over only when pressed again${isReloaded ? ", also after a reload" : ""}`, async () => {
    let page = await labels(3);
    const [first, , third] = await queue();
    await press(page, "a", "Enter");
    await sendBack(page);
    await ask("adjudication/author_continues");
    if (isReloaded) page = await reload(page);
    await press(page, "u");
    assert.match(notices(page), /An author has already worked on the response/);
    assert.match(notices(page), /Press U again to undo your last decision before it\./);
    assert.equal(shown(page), third);
    assert.deepEqual((await decisions()).map(({ item }) => item), [first]);
    await press(page, "u");
    assert.equal(shown(page), first);
    assert.deepEqual(await decisions(), []);
    assert.equal((await sentBack()).length, 1);
  });
}

test("after the only act was sending back, undo brings the item back", async () => {
  const page = await labels(1);
  const [item] = await queue();
  await sendBack(page);
  assert.equal(heading(page), "All caught up");
  await press(page, "u");
  assert.equal(shown(page), item);
  assert.deepEqual(await sentBack(), []);
});

test("after the only act was sending back, undo reports that the author has continued", async () => {
  const page = await labels(1);
  await sendBack(page);
  assert.equal(heading(page), "All caught up");
  await ask("adjudication/author_continues");
  await press(page, "u");
  assert.match(notices(page), /An author has already worked on the response/);
  assert.doesNotMatch(notices(page), /Press U again/);
  assert.equal((await sentBack()).length, 1);
});

// --- letters ---------------------------------------------------------------------------------------------------------

test("in a label task a letter replaces the choice, also after an undo", async () => {
  const page = await labels(2);
  const [first, second] = await queue();
  await press(page, "c", "a");
  assert.deepEqual(chosen(page), ["A"]);
  await press(page, "Enter");
  assert.equal(shown(page), second);
  await press(page, "u");
  assert.equal(shown(page), first);
  assert.deepEqual(chosen(page), ["A"]);
  await press(page, "b", "Enter");
  assert.equal(shown(page), second);
  assert.deepEqual((await decisions())[0].data, [{ label: await labelOf(first, "B") }]);
});

test("where several responses win, only the first letter after an undo replaces the choice", async () => {
  const page = await begin("adjudication/sample", { kind: "short_table" });
  const item = shown(page);
  await press(page, "a", "Enter");
  assert.notEqual(shown(page), item);
  await press(page, "u");
  assert.equal(shown(page), item);
  assert.deepEqual(chosen(page), ["A"]);
  await press(page, "b");
  assert.deepEqual(chosen(page), ["B"]);
  await press(page, "c");
  assert.deepEqual(chosen(page), ["B", "C"]);
  await press(page, "b");
  assert.deepEqual(chosen(page), ["C"]);
});

test("the restored letter stays chosen when it is pressed again", async () => {
  const page = await labels(2);
  const [first, second] = await queue();
  await press(page, "a", "Enter", "u");
  assert.equal(shown(page), first);
  await press(page, "a", "Enter");
  assert.equal(shown(page), second);
  assert.deepEqual((await decisions())[0].data, [{ label: await labelOf(first, "A") }]);
});

test("after an exclusion is undone keys act on the item, and the reason is one key away", async () => {
  const page = await labels(2);
  const [first, second] = await queue();
  await press(page, "x");
  await write(page, "The table is damaged.");
  await press(page, "Control+Enter");
  assert.equal(shown(page), second);
  await press(page, "u");
  assert.equal(shown(page), first);
  assert.deepEqual(openPanels(page), []);
  await press(page, "x");
  assert.equal(page.focused, reason(page));
  assert.equal(reason(page).value, "The table is damaged.");
  await press(page, "Escape", "a", "Enter");
  assert.equal(shown(page), second);
  const [decision] = await decisions();
  assert.deepEqual([decision.kind, decision.note], ["accepted", ""]);
});

test("the next item compares its own edits in one table", async () => {
  const page = await begin("adjudication/sample", { kind: "short_table" });
  const item = shown(page);
  const question = page.find(".question").textContent;
  assert.equal(page.all("askew-comparison askew-grid").length, 1);
  await press(page, "a", "Enter");
  assert.notEqual(shown(page), item);
  assert.notEqual(page.find(".question").textContent, question);
  assert.equal(page.all("askew-comparison askew-grid").length, 1);
  await press(page, "n");
  assert.equal(page.all("askew-comparison [data-here]").length, 1);
  await press(page, "v");
  assert.equal(page.all("askew-comparison .sheet").length, 2);
});

// --- panels ----------------------------------------------------------------------------------------------------------

test("nothing is decided by accident", async () => {
  const page = await labels(1);
  await press(page, "Enter");
  assert.match(notices(page), /Not decided yet\. Choose a response with its letter/);
  await press(page, "1");
  assert.match(notices(page), /Choose a response first, then the reason\./);
  await press(page, "a", "s", "b", "1", "Enter");
  assert.equal(page.focused.name, "back_note");
  await press(page, "Escape", "x", "Enter");
  assert.equal(page.focused, reason(page));
  assert.deepEqual(await decisions(), []);
  assert.deepEqual(await sentBack(), []);
  await write(page, "No, it is fine.");
  await press(page, "Escape", "Enter");
  assert.equal(heading(page), "All caught up");
  assert.equal((await decisions())[0].kind, "accepted");
});

for (const panel of ["s", "x"]) {
  test(`after the panel of ${panel} is closed by Escape a letter and Enter decide`, async () => {
    const page = await labels(2);
    const [first, second] = await queue();
    await press(page, panel, "Escape");
    assert.equal(page.focused, page.find(".question"));
    await press(page, "a", "Enter");
    assert.equal(shown(page), second);
    assert.deepEqual((await decisions()).map(({ item }) => item), [first]);
  });
}

test("one panel is open at a time", async () => {
  const page = await labels(1);
  await press(page, "x");
  assert.deepEqual(openPanels(page), ["exclude"]);
  await press(page, "Escape", "s");
  assert.deepEqual(openPanels(page), ["send_back"]);
  page.find("details[data-panel=exclude]").open = true;
  await page.settled();
  await page.passes(20);
  assert.deepEqual(openPanels(page), ["exclude"]);
});

test("where nothing can be sent back the key says so and decides nothing", async () => {
  const page = await begin("adjudication/edits", { is_closed: true });
  await press(page, "s");
  const panel = page.find("details[data-panel=send_back]");
  assert.match(panel.textContent, /The batch is closed: responses can no longer be sent back\./);
  assert.equal(page.focused, panel.querySelector(".popped"));
  await press(page, "b", "Control+Enter");
  assert.deepEqual(chosen(page), []);
  assert.ok(panel.open);
  await press(page, "Escape");
  assert.ok(!panel.open);
  assert.deepEqual(await decisions(), []);
});

test("an exclusion without a reason asks for it in its panel", async () => {
  const page = await begin("adjudication/edits", {});
  await press(page, "b", "x", "Control+Enter");
  const panel = page.find("details[data-panel=exclude]");
  assert.match(panel.textContent, /Write why you exclude the item\./);
  assert.equal(page.focused, reason(page));
  assert.equal(page.all(".refused").length, 0);
  assert.deepEqual(chosen(page), ["B"]);
  await press(page, "Escape");
  assert.ok(!page.find("details[data-panel=exclude]").open);
});

test("a batch that requires a note asks for it before anything is sent", async () => {
  const page = await labels(1, { note_required: true });
  await press(page, "a", "Enter");
  assert.match(notices(page), /This batch requires a note\. Write why you decide this way\./);
  assert.equal(page.focused, note(page));
  assert.equal(page.server.sent("POST", "/adjudicate/").length, 0);
  await write(page, "By rule 3.");
  await press(page, "Control+Enter");
  assert.equal(heading(page), "All caught up");
  assert.equal((await decisions())[0].note, "By rule 3.");
});

// --- what is kept ----------------------------------------------------------------------------------------------------

test("what is chosen and written survives a reload and is gone once decided", async () => {
  let page = await labels(2);
  const [first, second] = await queue();
  await press(page, "b", "r");
  await write(page, "By rule 3.");
  page = await reload(page);
  assert.equal(shown(page), first);
  assert.deepEqual(chosen(page), ["B"]);
  assert.equal(note(page).value, "By rule 3.");
  note(page).focus();
  await press(page, "Control+Enter");
  assert.equal(shown(page), second);
  assert.deepEqual((await decisions()).map(({ item, note }) => [item, note]), [[first, "By rule 3."]]);
  assert.deepEqual(Object.keys({ ...page.window.localStorage }).filter((key) => key.startsWith("askew:adjudication:")), []);
});

test("without a connection nothing is decided and nothing is lost", async () => {
  const held = hold();
  const page = await labels(2, {}, { replies: { "POST /adjudicate/": held.reply } });
  const [, second] = await queue();
  page.press("a", "Enter");
  await page.settled();
  held.fail();
  await page.settled();
  assert.equal(notices(page), "The server cannot be reached. Your choice is kept. Try again.");
  assert.deepEqual(await decisions(), []);
  page.press("Enter");
  await page.settled();
  held.answer();
  await page.settled();
  assert.equal(shown(page), second);
  assert.equal(notices(page), "");
});

test("keys pressed while a decision is on its way do not reach the next item", async () => {
  const held = hold();
  const page = await labels(2, {}, { replies: { "POST /adjudicate/": held.reply } });
  const [, second] = await queue();
  page.press("a", "Enter");
  await page.settled();
  page.press("b", "Enter");
  assert.equal(sign(page), "Ignored: the item was not ready yet.");
  held.answer();
  await page.settled();
  assert.equal(shown(page), second);
  assert.deepEqual(chosen(page), []);
  assert.equal((await decisions()).length, 1);
  assert.equal(sign(page), "Ignored: the item was not ready yet.");
  await page.passes(REST);
  await press(page, "b");
  assert.equal(sign(page), "");
  assert.deepEqual(chosen(page), ["B"]);
});

test("keys are ignored with a sign for a moment after an item has come", async () => {
  const page = await labels(3);
  const [first, second, third] = await queue();
  page.press("a", "Enter");
  await page.settled();
  assert.equal(shown(page), second);
  page.press("a", "Enter");
  await page.settled();
  assert.equal(sign(page), "Ignored: the item was not ready yet.");
  assert.deepEqual(chosen(page), []);
  await page.passes(249);
  page.press("a");
  assert.deepEqual(chosen(page), []);
  await page.passes(1);
  page.press("a", "Enter");
  await page.settled();
  assert.equal(shown(page), third);
  assert.deepEqual((await decisions()).map(({ item }) => item), [first, second]);
});

// --- other adjudicators ----------------------------------------------------------------------------------------------

test("who is second reads what the first one decided and goes on", async () => {
  const page = await labels(2);
  const [first, second] = await queue();
  await ask("adjudication/another_decides", { item: first, choose: "B" });
  await press(page, "a", "r");
  await write(page, "Mine is better.");
  await press(page, "Control+Enter");
  assert.match(page.find("[data-item]").textContent, /This item was decided in the meantime:/);
  const written = page.all("textarea, input").find(({ labels }) => labels?.[0]?.textContent.includes("Note on the decision"));
  assert.equal(written.value, "Mine is better.");
  await press(page, "Escape", "Enter");
  assert.equal(shown(page), second);
  assert.deepEqual((await decisions()).map(({ by }) => by), ["Rea"]);
});

test("a letter of a response that was replaced decides nothing until it is chosen again", async () => {
  let page = await labels(1);
  const [item] = await queue();
  const letter = (await ask("adjudication/letters", { item })).extraction;
  await press(page, letter.toLowerCase(), "r");
  await write(page, "As I saw it.");
  await ask("adjudication/response_changes", { item, choose: letter });
  await press(page, "Control+Enter");
  assert.match(page.find("[data-item]").textContent, /The responses changed after this page was loaded\./);
  assert.deepEqual(chosen(page), []);
  assert.equal(note(page).value, "As I saw it.");
  page = await reload(page);
  assert.equal(shown(page), item);
  assert.equal(note(page).value, "As I saw it.");
  assert.deepEqual(chosen(page), []);
  assert.deepEqual(await decisions(), []);
  await press(page, letter.toLowerCase(), "Enter");
  assert.equal(heading(page), "All caught up");
  assert.equal((await decisions())[0].kind, "excluded");
});

// --- an own response -------------------------------------------------------------------------------------------------

const noteOf = (page) => page.find("[name=note]");
const radio = (page, label) => page.all("label").find(({ textContent }) => textContent.trim().startsWith(label)).control;

async function own(page) {
  await press(page, "w");
  return onward(page);
}

test("the item begins with the instruction, the question and the answer", async () => {
  const page = await labels(1);
  assert.equal(page.texts("h1").join(), "Decide which responses to accept");
  assert.deepEqual(page.texts("askew-adjudicate .asked h2"), ["Instruction for annotators", "Question", "Answer"]);
  assert.match(page.find("askew-adjudicate .asked").textContent, /Can the answer be read from the table, or must it be worked out\?/);
  assert.equal(page.focused, page.find(".question"));
});

test("an own response decides with a key, and undo brings the item back", async () => {
  let page = await own(await labels(1));
  assert.match(page.path, /\/own\/$/);
  await press(page, "1");
  page = await onward(page);
  assert.match(page.find("main").textContent, /You decided 1 item in this sitting\./);
  assert.deepEqual((await decisions())[0].data, [{ label: "extraction" }]);
  await press(page, "u");
  page = await onward(page);
  assert.deepEqual(await decisions(), []);
  assert.equal(shown(page), (await queue())[0]);
  page = await own(page);
  await press(page, "1");
  page = await onward(page);
  assert.match(page.find("main").textContent, /You decided 1 item in this sitting\./);
});

test("the key of an own response starts from the chosen response", async () => {
  const page = await labels(1);
  await press(page, "b", "w");
  assert.match(page.left.at(-1).href, /\/own\/\?from=B$/);
  await press(page, "c", "w");
  assert.match(page.left.at(-1).href, /\/own\/\?from=C$/);
});

test("where a note is required an own response is sent with it, by Enter in its line", async () => {
  let page = await own(await labels(1, { note_required: true }));
  await press(page, "1");
  assert.ok(!hasLeft(page), "without a note nothing is sent");
  noteOf(page).focus();
  await write(page, "It is read off one cell.");
  noteOf(page).form.requestSubmit(page.find("button[value=submit]")); // what Enter does in a line of a form
  await page.settled();
  page = await onward(page);
  const [decision] = await decisions();
  assert.deepEqual(decision.data, [{ label: "extraction" }]);
  assert.equal(decision.note, "It is read off one cell.");
  assert.match(page.path, /\/adjudication\/$/);
});

test("an own response with its note survives a reload, the way back and an undo", async () => {
  let page = await own(await begin("adjudication/edits", {}));
  page.fill(noteOf(page), "Nobody is right.");
  page.click(radio(page, "Unanswerable"));
  await page.settled();
  page = await reload(page);
  assert.match(page.find("[data-notices]").textContent, /Your unsaved changes were restored\./);
  assert.ok(radio(page, "Unanswerable").checked);
  assert.equal(noteOf(page).value, "Nobody is right.");

  page.click("button[value=back]");
  page = await onward(page);
  assert.equal(shown(page), (await queue())[0]);
  assert.equal(note(page).value, "Nobody is right.");
  page = await own(page);
  page.click("button[value=submit]");
  await page.settled();
  page = await onward(page);
  assert.equal((await decisions())[0].note, "Nobody is right.");

  page.click("button[name=undo]");
  page = await onward(page);
  assert.equal(shown(page), (await queue())[0]);
  assert.equal(note(page).value, "Nobody is right.");
  page = await own(page);
  assert.ok(radio(page, "Unanswerable").checked);
});

test("a note goes along to an own response and back", async () => {
  let page = await labels(1);
  page.fill(note(page), "Neither reads the table.");
  page.click("[data-edit=A]");
  page = await onward(page);
  assert.match(page.path, /\/own\/\?from=A$/);
  assert.equal(noteOf(page).value, "Neither reads the table.");
  page.fill(noteOf(page), "Neither reads the table, nor the question.");
  page.click("button[value=back]");
  page = await onward(page);
  assert.match(page.path, /\/adjudicate\/$/);
  assert.equal(note(page).value, "Neither reads the table, nor the question.");
  assert.deepEqual(await decisions(), []);
});

test("an own response over responses that changed is refused visibly until they were seen", async () => {
  let page = await labels(1);
  const [item] = await queue();
  const letter = (await ask("adjudication/letters", { item })).extraction;
  page = await own(page);
  await ask("adjudication/response_changes", { item, choose: letter });
  page.fill(noteOf(page), "Nobody is right.");
  page.find(".question").focus();
  await press(page, "2");
  page = await onward(page);
  const refusal = /The responses changed after this page was loaded\./;
  assert.match(page.find("[data-notices]").textContent, refusal);
  page.click("button[value=submit]");
  await page.settled();
  page = await onward(page);
  assert.match(page.find("[data-notices]").textContent, refusal);
  assert.deepEqual(await decisions(), []);
  page.click("button[value=back]");
  page = await onward(page);
  assert.equal(shown(page), item);
  assert.equal(note(page).value, "Nobody is right.");
});
