/* Registers resolve.js: `node --import ./tests/modules/hooks.js --test tests/modules/*.test.js`. */

import { register } from "node:module";

register("./resolve.js", import.meta.url);
