/* Bundles of modules, and scripts that are none. `node config/bundles.js FOLDER` reads {path of the bundle: [path of a script,
   ...]} from standard input. It writes each bundle, and what it imports on demand to a folder beside it. It prints {path:
   path with a digest}. All paths are below FOLDER. */

import { readFileSync } from "node:fs";
import { argv } from "node:process";

import { rolldown } from "rolldown";

const [folder] = argv.slice(2);
/** @type {Record<string, string>} */
const files = {};
/** @type {Record<string, string[]>} */
const bundles = JSON.parse(readFileSync(0, "utf8"));
for (const [bundle, modules] of Object.entries(bundles)) {
  const name = bundle.replace(/\.js$/u, "");
  /** @type {import("rolldown").Plugin} */
  const entry = {
    name: "entry",
    resolveId: (id) => (id === name ? id : null),
    load: (id) => (id === name ? modules.map((path) => `import ${JSON.stringify(`${folder}/${path}`)};`).join("") : null),
  };
  const build = await rolldown({ input: { [name]: name }, plugins: [entry], checks: { ineffectiveDynamicImport: false } });
  const { output } = await build.write({
    dir: folder,
    format: bundle.startsWith("bundles/") ? "es" : "iife",
    entryFileNames: "[name].[hash:12].js",
    chunkFileNames: `${name}/[name].[hash:12].js`,
    hashCharacters: "hex",
    minify: true,
    comments: false,
  });
  for (const { fileName } of output) files[fileName.replace(/\.\w+\.js$/u, ".js")] = fileName;
}
console.log(JSON.stringify(files));
