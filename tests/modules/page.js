/* A page of the platform without a browser: HTML in jsdom, the shipped scripts, and a server that the test scripts.

     const page = await openPage("annotate/value_change", { replies: { "PUT /draft/": { revision: 1 } } });
     page.press("Enter");
     await page.settled();
     assert.equal(page.find("[data-saved]").textContent, "Saved");

   Every page is a window of its own with its own copies of the modules. There is no layout: every size is 0. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { afterEach, mock } from "node:test";
import { runInNewContext, runInThisContext } from "node:vm";

import { JSDOM, VirtualConsole } from "jsdom";

const ORIGIN = "http://testserver";
// What jsdom's window and Node both have, and is Node's here: mock.timers must reach the timers of the scripts.
const NODES = new Set(["console", "setTimeout", "clearTimeout", "setInterval", "clearInterval", "queueMicrotask", "structuredClone",
  "performance", "AbortController", "AbortSignal", "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "crypto", "fetch", "globalThis"]);
// The language's own: values must be of the classes that assert compares.
const LANGUAGE = new Set([...runInNewContext("Object.getOwnPropertyNames(globalThis)")]);

let number = 0;
let current = null;

afterEach(() => {
  const errors = current?.errors ?? [];
  current?.window.close();
  endTimers();
  current = null;
  assert.deepEqual(errors, [], "the scripts of the page raised errors");
});

/* Timers of the page that is open. They end with it: its scripts would find the document of the next page. */
const timers = new Set();
for (const name of ["setTimeout", "setInterval"]) {
  const start = globalThis[name];
  globalThis[name] = (...values) => {
    const timer = start(...values);
    timers.add(timer);
    return timer;
  };
}

function endTimers() {
  timers.forEach(clearTimeout);
  timers.clear();
}

/* Open HTML, or the page that tests/modules/pages/ rendered under this name (`annotate/value_change`), and load its scripts.
   `replies` answer requests, see Server; `storage` and `session` are what localStorage and sessionStorage hold before;
   `viewport` is {width, height}. */
export async function openPage(source, { replies = {}, path = "/", storage = {}, session = {}, viewport = {}, scripts = null } = {}) {
  const html = source.trimStart().startsWith("<") ? source : rendered(source);
  endTimers();
  number += 1;
  const errors = [];
  const virtualConsole = new VirtualConsole().on("jsdomError", (error) => errors.push(String(error.cause?.stack ?? error.stack)));
  const { window } = new JSDOM("<!doctype html>", { url: ORIGIN + path, pretendToBeVisual: true, virtualConsole });
  const page = current = new Page(window, new Server(replies), errors);
  install(window, page.server, { width: 1280, height: 860, ...viewport });
  for (const [key, value] of Object.entries(storage)) window.localStorage.setItem(key, value);
  for (const [key, value] of Object.entries(session)) window.sessionStorage.setItem(key, value);
  window.document.open();
  window.document.write(html);
  window.document.close();
  for (const element of window.document.querySelectorAll("script[src]")) {
    if (!scripts) await run(element);
  }
  for (const script of scripts ?? []) await load(script);
  await page.settled();
  return page;
}

/* What tests/modules/pages/ wrote beside the pages: JSON of the server, such as the next item. */
export const data = (name) => JSON.parse(readFileSync(`${folder()}/${name}.json`, "utf8"));

/* Modules that scripts import while they run; resolve.js calls this with each. */
const imports = new Set();
globalThis.importing = (module) => {
  imports.add(module);
  const ended = () => imports.delete(module);
  module.then(ended, ended);
  return module;
};

/* A shipped module in the window of the page that was opened last. */
export const load = (path) => import(`/static/${path}?page=${number}`);

async function run(element) {
  const path = new URL(element.getAttribute("src"), ORIGIN).pathname;
  if (element.type === "module") return void (await import(`${path}?page=${number}`));
  if (!path.startsWith("/static/")) return; // the catalogue of translations: these pages are English
  const file = new URL(`../..${path}`, import.meta.url);
  if (!existsSync(file)) return; // htmx, of a package
  Object.defineProperty(document, "currentScript", { value: element, configurable: true });
  runInThisContext(`{${readFileSync(file, "utf8")}\n}`, { filename: file.href });
  delete document.currentScript;
}

const rendered = (name) => readFileSync(`${folder()}/${name}.html`, "utf8");

function folder() {
  const path = process.env.ASKEW_RENDERED_PAGES;
  if (!path) throw new Error("Run these tests with `./run test tests/modules`, which renders the pages");
  return path;
}

function install(window, server, { width, height }) {
  window.scrollTo = window.scrollBy = () => {};
  window.innerWidth = width;
  window.innerHeight = height;
  addMissing(window, width, height);
  takeNoDelay();
  for (const key of Object.getOwnPropertyNames(window)) {
    if (NODES.has(key) || LANGUAGE.has(key)) continue;
    const value = window[key];
    const bound = typeof value === "function" && !/^[A-Z]/.test(key) ? value.bind(window) : value;
    Object.defineProperty(globalThis, key, { value: bound, writable: true, configurable: true });
  }
  for (const key of ["addEventListener", "removeEventListener", "dispatchEvent"]) globalThis[key] = window[key].bind(window);
  globalThis.fetch = window.fetch = server.fetch;
}

/* What jsdom lacks, as far as the scripts use it: without layout, so observers of sizes never report. */
function addMissing(window, width, height) {
  const { HTMLElement, HTMLDialogElement, Element, Event } = window;
  class Observer {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  window.ResizeObserver = window.IntersectionObserver = Observer;
  window.HTMLCanvasElement.prototype.getContext = () => ({ measureText: (text) => ({ width: 8 * text.length }) });
  window.getComputedStyle = ({ style }) => style; // no style sheet is loaded: those of the platform are not in the pages
  window.CSS = { escape: (text) => text.replace(/[^\w-]/g, "\\$&"), supports: () => false };
  window.matchMedia = (query) => Object.assign(new window.EventTarget(), { media: query, matches: fits(query, width, height) });
  Element.prototype.scrollIntoView = Element.prototype.scrollTo = function () {};
  Element.prototype.setPointerCapture = Element.prototype.releasePointerCapture = function () {};
  Object.defineProperty(window.HTMLButtonElement.prototype, "formAction", {
    get() { return new URL(this.getAttribute("formaction") ?? "", window.location).href; },
  });
  HTMLDialogElement.prototype.show = HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
    (this.querySelector("[autofocus]") ?? this.querySelector("button, input, select, textarea, [tabindex]"))?.focus();
  };
  HTMLDialogElement.prototype.close = function (value) {
    if (!this.open) return;
    this.open = false;
    if (value !== undefined) this.returnValue = value;
    this.dispatchEvent(new Event("close"));
  };
  takeSignals(window);
  takeFrames(window);
  const opened = new WeakSet();
  const toggle = (element, newState) => {
    element.dispatchEvent(Object.assign(new Event("toggle"), { newState, oldState: newState === "open" ? "closed" : "open" }));
  };
  HTMLElement.prototype.showPopover = function () {
    opened.add(this);
    toggle(this, "open");
  };
  HTMLElement.prototype.hidePopover = function () {
    if (opened.delete(this)) toggle(this, "closed");
  };
  HTMLElement.prototype.togglePopover = function () {
    return opened.has(this) ? this.hidePopover() : this.showPopover();
  };
  const matches = Element.prototype.matches;
  Element.prototype.matches = function (selector) {
    return selector === ":popover-open" ? opened.has(this) : matches.call(this, selector);
  };
}

/* Frames at once instead of every 16 ms of real time: settled() waits for them, whatever the timers of the page do. */
function takeFrames(window) {
  const waiting = new Map();
  let last = 0;
  window.requestAnimationFrame = (callback) => {
    const handle = (last += 1);
    waiting.set(handle, setImmediate(() => {
      waiting.delete(handle);
      callback(window.performance.now());
    }));
    return handle;
  };
  window.cancelAnimationFrame = (handle) => clearImmediate(waiting.get(handle));
}

/* Mocked timers of Node 20 take a missing delay for NaN, and never fire. */
function takeNoDelay() {
  const { setTimeout } = globalThis;
  if (setTimeout.name === "withDelay") return;
  globalThis.setTimeout = function withDelay(callback, delay = 0, ...values) {
    return setTimeout(callback, delay, ...values);
  };
}

/* Listeners with a signal of Node's AbortController, which jsdom does not know as one. */
function takeSignals({ EventTarget }) {
  const { addEventListener } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    const { signal, ...others } = Object(options);
    if (!signal) return addEventListener.call(this, type, listener, options);
    if (signal.aborted) return;
    addEventListener.call(this, type, listener, others);
    signal.addEventListener("abort", () => this.removeEventListener(type, listener, others), { once: true });
  };
}

/* Whether a viewport of this size fits a media query of widths and heights in rem; other features count as absent. */
function fits(query, width, height) {
  const conditions = [...query.matchAll(/\((min|max)-(width|height):\s*([\d.]+)(rem|em|px)\)/g)];
  return conditions.length > 0 && conditions.every(([, bound, side, number, unit]) => {
    const limit = Number(number) * (unit === "px" ? 1 : 16);
    const size = side === "width" ? width : height;
    return bound === "min" ? size >= limit : size <= limit;
  });
}

/* Answers requests in place of Django. A reply belongs to "METHOD path-part": the longest part that fits counts. It is a
   body, {status, body}, a Response, an Error (the connection fails), or a function of the request that gives one of these, also later. */
export class Server {
  constructor(replies) {
    this.replies = replies;
    this.requests = [];
    this.fetch = async (url, { method = "GET", body, headers = {}, signal } = {}) => {
      const request = { method, path: new URL(url, ORIGIN).pathname, url: String(url), body: parsed(body), headers };
      this.requests.push(request);
      const aborted = signal && new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      aborted?.catch(() => {});
      const reply = await Promise.race([this.#reply(request), ...(aborted ? [aborted] : [])]);
      if (reply instanceof Response) return reply;
      const { status = 200, body: content = reply } = reply?.status ? reply : {};
      return new Response(status === 204 ? null : JSON.stringify(content ?? null), { status, headers: { "Content-Type": "application/json" } });
    };
  }

  sent(method, part = "") {
    return this.requests.filter((request) => request.method === method && request.path.includes(part));
  }

  async #reply(request) {
    const matches = Object.keys(this.replies).filter((key) => {
      const [method, part] = key.split(" ");
      return method === request.method && request.path.includes(part);
    });
    if (!matches.length) throw new TypeError(`the test has no reply to ${request.method} ${request.path}`);
    const reply = this.replies[matches.sort((a, b) => b.length - a.length)[0]];
    const value = typeof reply === "function" ? await reply(request) : reply;
    if (value instanceof Error) throw value;
    return value;
  }
}

const parsed = (body) => {
  try {
    return typeof body === "string" ? JSON.parse(body) : body;
  } catch {
    return body;
  }
};

/* What a person does and sees. */
export class Page {
  constructor(window, server, errors) {
    this.window = window;
    this.server = server;
    this.errors = errors; // uncaught in a script; each fails the test at its end
  }

  get document() {
    return this.window.document;
  }

  get focused() {
    return this.document.activeElement;
  }

  find(selector) {
    const element = this.document.querySelector(selector);
    if (!element) throw new Error(`the page has no ${selector}`);
    return element;
  }

  all(selector) {
    return [...this.document.querySelectorAll(selector)];
  }

  texts(selector) {
    return this.all(selector).map((element) => element.textContent.trim());
  }

  /* One key, with "Shift+", "Control+" or "Alt+" before it, where the focus is. */
  press(...keys) {
    for (const chord of keys) {
      const parts = chord === "+" ? ["+"] : chord.split("+");
      const key = parts.pop();
      const init = { key, bubbles: true, cancelable: true, composed: true, ctrlKey: parts.includes("Control"), shiftKey: parts.includes("Shift"), altKey: parts.includes("Alt") };
      const target = this.focused ?? this.document.body;
      const goesOn = target.dispatchEvent(new this.window.KeyboardEvent("keydown", init));
      if (goesOn && ["Enter", " "].includes(key) && target.matches("button, summary, a[href]")) target.click();
      target.dispatchEvent(new this.window.KeyboardEvent("keyup", init));
    }
  }

  /* Enter a text into a field, as a paste does. */
  fill(selector, text) {
    const field = typeof selector === "string" ? this.find(selector) : selector;
    field.focus();
    field.value = text;
    field.dispatchEvent(new this.window.InputEvent("input", { bubbles: true, data: text }));
    field.dispatchEvent(new this.window.Event("change", { bubbles: true }));
  }

  click(selector) {
    const element = typeof selector === "string" ? this.find(selector) : selector;
    for (const type of ["pointerdown", "mousedown"]) element.dispatchEvent(new this.window.MouseEvent(type, { bubbles: true, cancelable: true }));
    if (element.matches("button, input, select, textarea, a, summary, [tabindex]")) element.focus();
    for (const type of ["pointerup", "mouseup"]) element.dispatchEvent(new this.window.MouseEvent(type, { bubbles: true, cancelable: true }));
    element.click();
  }

  /* Wait until nothing is left to do at once: promises, frames and modules on their way. Timers of the page stay. */
  async settled() {
    do {
      await Promise.allSettled([...imports]);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    } while (imports.size);
  }

  /* Let time pass for the timers of the page; needs `mock.timers.enable()` before the page is opened. */
  async passes(milliseconds) {
    mock.timers.tick(milliseconds);
    await this.settled();
  }
}
