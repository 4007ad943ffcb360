/* What config/bundles.js uses of Node.js. The scripts of pages run in browsers, so Node's own types are not loaded. */

declare module "node:fs" {
  export function readFileSync(file: number, encoding: "utf8"): string;
}

declare module "node:process" {
  export const argv: readonly string[];
}

/* Node.js has it, and the types of rolldown name it. */
interface SymbolConstructor {
  readonly asyncDispose: unique symbol;
}
