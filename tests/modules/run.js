/* Runs the test files that are its arguments in one process: `node --import ./tests/modules/hooks.js tests/modules/run.js FILE …`.

   Node begins with a test as soon as it is known, and leaves (`--test-force-exit`) once those it knows are over. So the first
   test waits until every file is loaded, and the last one says in the report that all of them were. */

import { before, test } from "node:test";
import { pathToFileURL } from "node:url";

const loaded = load(process.argv.slice(2));
before(() => loaded);

async function load(files) {
  for (const file of files) await import(pathToFileURL(file));
  test("every file was loaded", () => {});
}
