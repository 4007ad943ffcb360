/* What the modes have in common in which a table has a current cell: keys, pointer and copying. */

import { put } from "./clipboard.js";
import { Mode } from "./modes.js";
import { listenToPointer } from "./pointer.js";

export class Pointed extends Mode {
  isGrid = true;
  hasHead = true;

  /* `calls` are those of pointer.js. */
  /** @param {Painted} painting @param {PointerCalls} calls */
  listen(painting, calls) {
    listenToPointer(painting, calls);
  }

  /** @param {DataTransfer} data */
  copy(data) {
    put(data, this.grid.areaTexts());
  }
}
