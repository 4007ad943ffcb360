/* What is typed is what is stored: every option of every shipped definition and task type, and numbers of several digits. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, hasLeft, openLive, stopClock } from "./live.js";

const REST = 251; // ms after which digits act again; a draft is sent 50 ms later
const KINDS = ["question_type", "question_screening", "cell_relevance", "answer_rating", "metric_failure", "pair",
  "question_paraphrase"];

async function begin(name, values) {
  stopClock();
  const page = await openLive(`options/${name}`, values);
  await page.passes(REST);
  return page;
}

async function press(page, ...keys) {
  for (const key of keys) {
    page.press(key);
    await page.settled();
    await page.passes(REST);
  }
}

const question = (page) => page.find(".question").textContent;
const field = (page, name) => page.find(`[data-field=${name}]`);
const isChoice = (input) => input.matches("[type=radio], [type=checkbox]");
const keyOf = (page, name, value) => [...field(page, name).querySelectorAll("input")].find((input) => input.value === String(value)).dataset.key;

/* Type a response; the page may have submitted it by then. */
async function type(page, response) {
  for (const [name, value] of Object.entries(response)) {
    const part = field(page, name);
    if (part.matches(".ranks")) {
      for (const option of value) await press(page, [...part.querySelectorAll("button")].find((button) => button.value === option).dataset.key);
    } else if (["choice", "choices"].includes(part.dataset.kind)) {
      for (const option of [value].flat()) await press(page, ...keyOf(page, name, option));
      const isNumber = page.all("[data-notices] [data-topic=key]").length; // it may go on: Enter ends it
      if (isNumber && name !== Object.keys(response).at(-1)) await press(page, "Enter");
    } else if (part.matches("askew-spans")) {
      part.querySelector("[data-text]").focus();
      await press(page, "ArrowRight", part.querySelector(`button[value=${value[0][2]}]`).dataset.key);
    } else if (part.dataset.kind === "numbers") {
      for (const [place, points] of value.entries()) page.fill([...part.querySelectorAll("input")][place], String(points));
      for (const wait of [20, 1, REST]) await page.passes(wait);
      await press(page, "Escape");
    } else {
      page.fill(part.matches("textarea, input") ? part : part.querySelector("textarea"), String(value));
      for (const wait of [20, 1, REST]) await page.passes(wait);
      await press(page, "Escape");
    }
  }
}

/* What the form has: chosen options, ranks and texts. */
const entered = (page) => page.all("[data-field]").flatMap((part) => [
  ...part.querySelectorAll("input:checked"),
  ...[part, ...part.querySelectorAll("input:not([type=radio], [type=checkbox], [data-slider]), select, textarea")].filter(({ value }) => value?.length),
]).map((input) => input.value);

async function typeAll(page, responses, definition) {
  const start = entered(page); // a text can begin with something
  for (const response of responses) {
    const before = question(page);
    const number = (await ask("options/submitted")).length;
    await type(page, response);
    if (!hasLeft(page) && question(page) === before) {
      if (page.focused.matches("select")) page.find(".question").focus();
      await press(page, "Enter");
    }
    assert.equal((await ask("options/submitted")).length, number + 1, `${definition}: ${JSON.stringify(response)}`);
    if (hasLeft(page)) break;
    assert.deepEqual(entered(page), start, definition);
  }
}

/* Type every option of these definitions: each response is stored as it was typed, and no item begins with what another had. */
async function typeEveryOption(names) {
  stopClock();
  await openLive("options/batch", { name: "slider" });
  for (const name of await ask(names)) {
    const page = await begin("batch", { name });
    const responses = await ask("options/responses");
    await typeAll(page, responses, name);
    const submitted = await ask("options/submitted");
    const normal = (response) => JSON.stringify(Object.entries(response).sort());
    assert.deepEqual(submitted.map(normal), responses.map(normal), name);
    assert.deepEqual(await ask("options/drafts"), [], name);
  }
}

test("every option of every shipped definition is stored as it is typed, and nothing else", () => typeEveryOption("options/names"));

test("every option of generated definitions is stored as it is typed, and nothing else", () => typeEveryOption("options/generated"));

test("every option of every task type with keys is stored as it is typed", async () => {
  const optionsOf = (group) => [...group.querySelectorAll("input[data-key]")].filter(isChoice);
  const groups = (page) => page.all("[data-field]").filter((group) => optionsOf(group).length);
  for (const kind of KINDS) {
    let page = await begin("of_kind", { kind });
    const rounds = Math.max(...groups(page).map((group) => optionsOf(group).length));
    assert.ok(rounds > 1, kind);
    for (let round = 0; round < rounds; round += 1) {
      if (page.focused.matches("textarea")) await press(page, "Escape");
      const before = question(page);
      const wanted = {};
      for (const group of groups(page)) {
        if (group.closest("[hidden]")) continue; // asked only where the score before it is low
        const { value, dataset } = optionsOf(group)[Math.min(round, optionsOf(group).length - 1)];
        wanted[group.dataset.field] = value;
        await press(page, dataset.key);
      }
      await page.passes(REST); // a draft is saved by now
      const stored = [...await ask("options/submitted"), ...await ask("options/drafts")];
      const isWanted = (data) => Object.entries(wanted).every(([name, value]) => String(data[name]) === value);
      assert.ok(stored.some(isWanted), `${kind}: ${JSON.stringify(wanted)}, ${JSON.stringify(stored)}`);
      if (hasLeft(page) || question(page) === before) page = await begin("of_kind", { kind });
    }
  }
});

test("a digit that may go on submits nothing, and Enter submits what was typed", async () => {
  const page = await begin("batch", { name: "slider" });
  const first = question(page);
  await press(page, "1");
  assert.equal(question(page), first);
  assert.match(page.find("[data-notices]").textContent, /Typed: 1\./);
  await press(page, "0");
  assert.equal(question(page), first);
  assert.equal(page.find("[data-field=confidence] :checked").value, "10");
  await press(page, "3", "Enter");
  assert.notEqual(question(page), first);
  assert.deepEqual(await ask("options/submitted"), [{ confidence: 3 }]);
  await press(page, "1", "Enter");
  assert.deepEqual(await ask("options/submitted"), [{ confidence: 3 }, { confidence: 1 }]);
});

test("what begins a number and is none chooses nothing, and another key ends it", async () => {
  let page = await begin("batch", { name: "negative" });
  const chosen = () => page.find(".scale").querySelector(":checked")?.value;
  await press(page, "-", "9");
  assert.equal(chosen(), "-9");
  await press(page, "-");
  assert.equal(chosen(), undefined);
  await press(page, "Enter");
  assert.deepEqual(await ask("options/submitted"), []);
  await press(page, "-", "1", "1");
  assert.equal(chosen(), "-11");
  page = await begin("batch", { name: "slider" });
  await press(page, "1", "Escape", "0");
  assert.equal(chosen(), "0");
});

test("a press on a step does what its key does", async () => {
  const page = await begin("batch", { name: "slider" });
  const first = question(page);
  page.click([...page.all("[data-field=confidence] label")][1]);
  await page.passes(REST);
  assert.equal(question(page), first);
  assert.ok(page.all("[data-commits]").every(({ hidden }) => hidden));
  assert.ok(!page.find(".actions").hasAttribute("data-choice-submits"));
  await press(page, "Enter");
  assert.deepEqual(await ask("options/submitted"), [{ confidence: 1 }]);
});
