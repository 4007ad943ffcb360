/* Menus of managers: those of the navigation, those beside figures, and the checkbox that selects all. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage } from "./page.js";

const MENUS = { scripts: ["askew/menus.js"] };
const FIGURES = { scripts: ["askew/menus.js", "askew/figure-menu.js"] };
const FILE = "\\toprule";

/* A clipboard that takes what is written, or fails. */
function clipboard({ fails = false } = {}) {
  const copied = [];
  globalThis.ClipboardItem = class {
    constructor(items) {
      this.items = items;
    }
  };
  const write = async ([{ items }]) => {
    const blob = await items["text/plain"];
    if (fails) throw new Error("no");
    copied.push(await text(blob));
  };
  Object.defineProperty(globalThis, "navigator", { value: { clipboard: { write } }, configurable: true });
  return copied;
}

const text = (blob) => new Promise((resolve) => {
  const reader = new FileReader();
  reader.addEventListener("load", () => resolve(reader.result));
  reader.readAsText(blob);
});

/* Wait until a copy is done or has failed. */
async function copied(page, menu) {
  for (let turn = 0; turn < 2_000 && status(menu) === "Copying …"; turn += 1) await page.settled();
}

/* Open a menu anew, once its toggle event has come. */
async function open(menu) {
  for (const isOpen of menu.open ? [false, true] : [true]) {
    const toggled = new Promise((resolve) => menu.addEventListener("toggle", resolve, { once: true }));
    menu.open = isOpen;
    await toggled;
  }
}

const status = (menu) => menu.querySelector("[role=status]").textContent;
const button = (menu, name) => [...menu.querySelectorAll("button")].find(({ textContent }) => textContent === name);

test("Escape closes the menu of the navigation and gives the focus back to its button", async () => {
  const page = await openPage("managing/people", MENUS);
  const menu = page.find("details.menu");
  menu.open = true;
  menu.querySelector("a").focus();
  page.press("Escape");
  assert.equal(menu.open, false);
  assert.equal(page.focused, menu.querySelector("summary"));
});

test("a click elsewhere and a focus elsewhere close the menu, those in it do not", async () => {
  const page = await openPage("managing/people", MENUS);
  const menu = page.find("details.menu");
  menu.open = true;
  menu.querySelector("a").focus();
  menu.querySelector("div").click();
  assert.equal(menu.open, true);
  page.find("main").click();
  assert.equal(menu.open, false);
  menu.open = true;
  page.find("main a, main button, main input").focus();
  assert.equal(menu.open, false);
});

test("each text beside a figure has a button that copies it before the link that downloads it", async () => {
  const page = await openPage("managing/agreement", FIGURES);
  const menu = page.find("section[aria-labelledby=chart-weeks] .figure-menu");
  const entries = [...menu.querySelectorAll(".popped :is(button, a)")].map((entry) => [entry.localName, entry.textContent.trim()]);
  assert.deepEqual(entries.slice(0, 6), [
    ["button", "Copy as LaTeX"], ["a", "Download LaTeX"], ["button", "Copy as Markdown"], ["a", "Download Markdown"], ["button", "Copy as CSV"], ["a", "Download CSV"],
  ]);
});

test("a table goes to the clipboard as its file has it", async () => {
  const page = await openPage("managing/agreement", { ...FIGURES, replies: { "GET /": FILE } });
  const taken = clipboard();
  const menu = page.find("section[aria-labelledby=chart-statistics] .figure-menu");
  await open(menu);
  button(menu, "Copy as LaTeX").click();
  assert.equal(status(menu), "Copying …");
  await copied(page, menu);
  assert.equal(status(menu), "Copied.");
  assert.deepEqual(taken, [JSON.stringify(FILE)]);
  assert.match(page.server.requests[0].url, /statistics.*tex/);
  await open(menu);
  assert.equal(status(menu), "", "what was copied before is past");
});

test("the costs of a plan are asked for as the form would, for their page is a reply", async () => {
  const page = await openPage("managing/plan", { ...FIGURES, replies: { "POST /": "Batch,Annotations" } });
  const taken = clipboard();
  const menu = page.find(".figure-menu");
  for (const [number, name] of ["LaTeX", "Markdown", "CSV"].entries()) {
    button(menu, `Copy as ${name}`).click();
    await copied(page, menu);
    assert.equal(status(menu), "Copied.");
    const { method, body } = page.server.requests[number];
    assert.deepEqual([method, body.get("costs")], ["POST", { LaTeX: "tex", Markdown: "md", CSV: "csv" }[name]]);
    assert.match(body.get("text"), /Types of questions/);
  }
  assert.equal(taken.length, 3);
});

test("a copy that fails says so, be it the clipboard, the server or the connection", async () => {
  let reply = FILE;
  const page = await openPage("managing/agreement", { ...FIGURES, replies: { "GET /": () => reply } });
  const menu = page.find(".figure-menu");
  const fails = async (options) => {
    clipboard(options);
    await open(menu);
    button(menu, "Copy as Markdown").click();
    await copied(page, menu);
    assert.equal(status(menu), "Copying failed. Download the file instead.");
  };
  await fails({ fails: true });
  reply = { status: 500, body: "" };
  await fails({});
  reply = new TypeError("no connection");
  await fails({});
});

test("Escape closes the menu beside a figure and gives the focus back, and so does a click elsewhere", async () => {
  const page = await openPage("managing/agreement", FIGURES);
  const menu = page.find(".figure-menu");
  await open(menu);
  button(menu, "Copy as CSV").focus();
  page.press("Escape");
  assert.equal(menu.open, false);
  assert.equal(page.focused, menu.querySelector("summary"));
  await open(menu);
  menu.querySelector(".popped").click();
  assert.equal(menu.open, true);
  page.find("main").click();
  assert.equal(menu.open, false);
});

test("all batches are selected with one click, and some are shown as some", async () => {
  const page = await openPage("managing/batches", { scripts: ["askew/select-all.js"] });
  const all = page.find("[data-selects]");
  const boxes = page.all(`input[name="${all.dataset.selects}"]`);
  assert.equal(all.hidden, false);
  assert.equal(boxes.length, 9);
  all.click();
  assert.ok(boxes.every(({ checked }) => checked));
  boxes[3].click();
  assert.deepEqual([all.checked, all.indeterminate], [false, true]);
  all.click();
  assert.ok(boxes.every(({ checked }) => checked));
  for (const box of boxes) box.click();
  assert.deepEqual([all.checked, all.indeterminate], [false, false]);
});

test("what was changed in another section is not lost without a question", async () => {
  const page = await openPage("managing/settings", { scripts: ["askew/unsaved.js"] });
  const leaves = () => page.window.dispatchEvent(new page.window.Event("beforeunload", { cancelable: true }));
  const [name, limits] = ["general", "limits"].map((section) => page.find(`form:has([name=section][value=${section}])`));
  assert.ok(leaves(), "nothing was changed");
  page.fill(name.querySelector("[name=name]"), "Another name");
  assert.ok(!leaves());
  limits.dispatchEvent(new page.window.Event("submit"));
  assert.ok(!leaves(), "the name would be lost");
  name.dispatchEvent(new page.window.Event("submit"));
  assert.ok(leaves(), "the name is saved");
});
