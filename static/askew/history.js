/* Steps that can be taken back and done again, without limit. A step is whatever tells how things stood. */

export class History {
  #past = [];
  #future = [];

  /* `past` is what came before the first step, oldest first. */
  constructor(past = []) {
    this.#past = past;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /* Something is done: `before` is how things stood. */
  did(before) {
    this.#past.push(before);
    this.#future = [];
  }

  /* How things stood before the last step, or null; `now` is how they stand. */
  undo(now) {
    return travel(this.#past, this.#future, now);
  }

  redo(now) {
    return travel(this.#future, this.#past, now);
  }
}

function travel(from, to, now) {
  if (!from.length) return null;
  to.push(now);
  return from.pop();
}
