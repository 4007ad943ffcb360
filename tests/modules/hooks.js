/* Registers resolve.js: `node --import ./tests/modules/hooks.js tests/modules/run.js FILE …`. */

import { register } from "node:module";

register("./resolve.js", import.meta.url);
