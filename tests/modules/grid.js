/* An <askew-grid> on a page of its own, what people do to it, and what they see and hear of it.

     const grid = await openGrid();
     grid.show({ mode: "edit" });
     grid.press("ArrowDown", "F2");
     grid.types("x");
     grid.hears("Row 2, Votes");

   Every cell is 80 x 30 px, so that columns have widths and ranges are drawn; nothing else is laid out. Time stands still:
   `hears` lets as much pass as the grid waits before it speaks. */

import assert from "node:assert/strict";
import { mock } from "node:test";

import { load, openPage } from "./page.js";

export const VOTES = {
  header: ["Competitor", "Country", "Votes", "Notes"],
  rows: [
    ["Leslie", "Canada", "15", ""],
    ["Nwosu", "Nigeria", "1,212", "withdrew in the second round"],
    ["Olsson", "Sweden", "4", ""],
    ["Adeyemi-Brandt", "Germany", "97", "first entry"],
    ["Tanaka", "Japan", "141", ""],
  ],
};

const MODULES = ["grid", "selecting", "editing", "structuring", "comparing"];
const PAUSE = 250; // ms that the grid waits until the keys rest, see grid.js
const WIDTH = 80;
const HEIGHT = 30;

/* An empty page with a grid; `storage` is what localStorage holds before. */
export function openGrid(options) {
  return openElement("askew-grid", MODULES, options);
}

/* An empty page with an element that shows tables, made by these modules of askew/. */
export async function openElement(name, modules, { storage = {} } = {}) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const page = await openPage("<main id='main'></main>", { scripts: [], storage });
  layOut(page.window);
  for (const module of modules) await load(`askew/${module}.js`);
  const element = page.document.createElement(name);
  page.find("main").replaceChildren(element);
  return new Grid(page, element);
}

/* Cells and sheets with sizes, in a window wide enough for all of them. */
function layOut(window) {
  const { HTMLElement, Element } = window;
  Element.prototype.getBoundingClientRect = () => ({ x: 0, y: 0, left: 0, top: 0, right: WIDTH, bottom: HEIGHT, width: WIDTH, height: HEIGHT });
  for (const [name, value] of [["offsetHeight", HEIGHT], ["offsetWidth", WIDTH]]) {
    Object.defineProperty(HTMLElement.prototype, name, { get: () => value, configurable: true });
  }
  Object.defineProperty(Element.prototype, "clientWidth", { get: () => 1200, configurable: true });
}

export class Grid {
  constructor(page, element) {
    this.page = page;
    this.element = element;
    this.events = [];
    for (const name of ["grid-change", "grid-submit", "grid-leave"]) {
      page.window.addEventListener(name, () => this.events.push(name));
    }
  }

  /* Show a table and go to its first cell; returns whether all operations fit. Options are those of grid.js. */
  show({ table = VOTES, operations = [], ...options } = {}) {
    const fits = this.element.show(table, operations, options);
    this.element.focusCell();
    return fits;
  }

  get operations() {
    return this.element.operations;
  }

  /* "row column" -> new text, of the operations that set cells and headers ("h"). */
  get texts() {
    return Object.fromEntries(this.operations.filter((op) => "new" in op).map(({ row = "h", column, new: text }) => [`${row} ${column}`, text]));
  }

  get focused() {
    return this.page.focused;
  }

  /* The events since the last call. */
  heard() {
    return this.events.splice(0);
  }

  /* The differences between a table and its edited version, to be read. */
  compare(operations, table = VOTES) {
    this.element.compare(table, operations);
    this.page.find(".sheet").focus();
  }

  /* Let the grid paint what it left for later. */
  rests() {
    for (let turn = 0; turn < 500; turn += 1) mock.timers.tick(16);
  }

  // --- what people do

  press(...keys) {
    press(this.page, ...keys);
  }

  types(text) {
    type(this.page, text);
  }

  /* A click of the mouse, with "Shift" held where `shift` is set; `times` 2 is a double click. */
  click(target, { shift = false, times = 1 } = {}) {
    const element = this.#element(target);
    const { MouseEvent } = this.page.window;
    for (let time = 1; time <= times; time += 1) {
      for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) {
        element.dispatchEvent(new MouseEvent(kind, { bubbles: true, cancelable: true, shiftKey: shift, detail: time, buttons: kind.endsWith("down") ? 1 : 0 }));
      }
    }
    if (times === 2) element.dispatchEvent(new MouseEvent("dblclick", { bubbles: true, cancelable: true, detail: 2 }));
    mock.timers.tick(100); // the press is over, see pointer.js
  }

  /* What a finger does to a cell: there is no pointer before the click. */
  tap(target) {
    this.#element(target).dispatchEvent(new this.page.window.MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
  }

  copies() {
    return this.#clipboard("copy");
  }

  cuts() {
    return this.#clipboard("cut");
  }

  pastes(text, format = "text/plain") {
    this.#clipboard("paste", { [format]: text });
  }

  #clipboard(kind, content = {}) {
    const event = new this.page.window.Event(kind, { bubbles: true, cancelable: true });
    event.clipboardData = {
      getData: (format) => content[format] ?? "",
      setData(format, text) {
        content[format] = text;
      },
    };
    this.focused.dispatchEvent(event);
    return content["text/plain"];
  }

  #element(target) {
    return typeof target === "string" ? this.page.find(target) : target;
  }

  // --- what people see and hear

  cell(row, column) {
    return this.page.find(`[data-row="${row}"] td[data-column="${column}"]`);
  }

  header(column) {
    return this.page.find(`thead th[data-column="${column}"]`);
  }

  /* The number of a row. */
  number(row) {
    return this.page.find(`[data-row="${row}"] th.number`);
  }

  /* A button with this text, or with this name for screen readers. */
  button(name) {
    const buttons = this.page.all("button").filter((button) => (button.ariaLabel ?? button.textContent.trim()) === name);
    assert.ok(buttons.length, `there is a button ${name}`);
    return buttons[0];
  }

  count(selector) {
    return this.page.all(selector).length;
  }

  /* A screen reader says this, at once or when the keys have rested. */
  hears(words) {
    mock.timers.tick(PAUSE);
    const text = this.page.find("askew-grid > [role=status]").textContent;
    assert.ok(text.includes(words), `“${text}” has “${words}”`);
  }

  /* The row above the table or the line below it says this. */
  reads(words) {
    const lines = this.page.texts("askew-grid :is(.grid-tools > .where, .grid-state)");
    assert.ok(lines.some((line) => line.includes(words)), `${JSON.stringify(lines)} has “${words}”`);
  }
}

/* Keys where the focus is, one by one; what they write lands in a field that has the focus then. */
export function press(page, ...keys) {
  for (const chord of keys) {
    const [, before, name] = /^((?:(?:Control|Shift|Alt)\+)*)(.+)$/s.exec(chord);
    const key = name === "Space" ? " " : name;
    const [ctrlKey, shiftKey, altKey] = ["Control", "Shift", "Alt"].map((modifier) => before.includes(modifier));
    const init = { key, ctrlKey, shiftKey, altKey, bubbles: true, cancelable: true, composed: true };
    const target = page.focused;
    const acts = target.dispatchEvent(new page.window.KeyboardEvent("keydown", init));
    if (acts && !ctrlKey && !altKey) byDefault(page, key);
    page.focused.dispatchEvent(new page.window.KeyboardEvent("keyup", init));
  }
}

export function type(page, text) {
  for (const letter of text) press(page, letter);
}

/* What a browser makes of a key that no script has taken. */
function byDefault(page, key) {
  const field = page.focused;
  if (field.matches("button, summary, a[href]") && ["Enter", " "].includes(key)) field.click();
  if (field.matches("input[type=radio], input[type=checkbox]") && key === " ") field.click();
  if (!field.matches("textarea, input:not([type=radio], [type=checkbox])")) return;
  const { selectionStart: start, selectionEnd: end } = field;
  if (key === "Home") field.setSelectionRange(0, 0);
  else if (key === "End") field.setSelectionRange(field.value.length, field.value.length);
  else if (key === "Backspace") write(page, field, "", start === end ? Math.max(0, start - 1) : start, end);
  else if (key === "Enter" && field.matches("textarea")) write(page, field, "\n", start, end);
  else if ([...key].length === 1) write(page, field, key, start, end);
}

function write(page, field, text, start, end) {
  field.setRangeText(text, start, end, "end");
  field.dispatchEvent(new page.window.InputEvent("input", { bubbles: true, data: text }));
}
