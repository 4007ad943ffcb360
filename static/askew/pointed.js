/* What the modes have in common in which a table has a current cell: keys, pointer and copying. */

import { put } from "./clipboard.js";
import { Mode } from "./modes.js";
import { listenToPointer } from "./pointer.js";

export class Pointed extends Mode {
  isGrid = true;
  hasHead = true;

  /* `calls` are those of pointer.js. */
  listen(painting, calls) {
    listenToPointer(painting, calls);
  }

  copy(data) {
    put(data, this.grid.areaTexts());
  }
}
