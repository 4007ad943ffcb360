/* Finds scripts as the server serves them, and gives each page its own copies.

   `/static/NAME` is a file of static/, or of tasks/<task type>/static/. A module that a page imports gets the page's
   number as its query (`?page=3`), and so do the modules that it imports: no test sees the state of another. What a
   script imports later is told to the page, which waits for it. */

import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = new URL("../../", import.meta.url);
const SERVED = /\/static\/(([\w-]+)\/[\w./-]+\.js)$/;

export async function resolve(specifier, context, next) {
  const page = context.parentURL && new URL(context.parentURL).searchParams.get("page");
  const own = /^(\.|\/|file:)/.test(specifier) ? new URL(specifier, context.parentURL ?? ROOT) : null;
  const served = own && SERVED.exec(own.pathname);
  if (!served) return next(specifier, context);
  const number = own.searchParams.get("page") ?? page;
  const url = file(served[1], served[2]);
  if (number) url.searchParams.set("page", number);
  return { url: url.href, format: "module", shortCircuit: true };
}

export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!SERVED.test(new URL(url).pathname)) return loaded;
  return { ...loaded, source: String(loaded.source).replace(/\bimport\((".+?")\)/g, "globalThis.importing(import($1))") };
}

function file(path, folder) {
  const url = new URL(`static/${path}`, ROOT);
  return existsSync(fileURLToPath(url)) ? url : pathToFileURL(fileURLToPath(new URL(`tasks/${folder}/static/${path}`, ROOT)));
}
