/* Steps that can be taken back and done again, without limit. A step is {operations, ...}, how things stood; of its
   operations only what differs from those after it is kept, as lists are long and steps change little. */

export class History {
  /** @type {CutStep[]} */
  #past;
  /** @type {CutStep[]} */
  #future = [];

  /* Operations that were made before, of which each can be undone; `rest` is what else a step has. */
  /** @param {readonly Operation[]} operations @param {StepDetails} rest */
  constructor(operations = [], rest = {}) {
    this.#past = operations.map((_, start) => ({ start, cut: [], end: 0, rest }));
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /* Something is done: `before` is how things stood, `operations` are the ones that there are now. */
  /** @param {Step} before @param {readonly Operation[]} operations */
  did(before, operations) {
    this.#past.push(apart(before, operations));
    this.#future = [];
  }

  /* How things stood before the last step, or null; `now` is how they stand. */
  /** @param {Step} now */
  undo(now) {
    return travel(this.#past, this.#future, now);
  }

  /** @param {Step} now */
  redo(now) {
    return travel(this.#future, this.#past, now);
  }
}

/** @param {CutStep[]} from @param {CutStep[]} to @param {Step} now @returns {Step | null} */
function travel(from, to, now) {
  if (!from.length) return null;
  const { start, cut, end, rest } = from.pop();
  const after = now.operations;
  const isSame = !cut.length && start + end === after.length;
  const operations = isSame ? after : [...after.slice(0, start), ...cut, ...after.slice(after.length - end)];
  to.push(apart(now, operations));
  return { ...rest, operations };
}

/* A step without the operations that it has in common with those after it, at the beginning and at the end. */
/** @param {Step} before @param {readonly Operation[]} after @returns {CutStep} */
function apart({ operations, ...rest }, after) {
  const shared = Math.min(operations.length, after.length);
  let start = 0;
  while (start < shared && same(operations[start], after[start])) start += 1;
  let end = 0;
  while (end < shared - start && same(operations.at(-1 - end), after.at(-1 - end))) end += 1;
  return { start, cut: operations.slice(start, operations.length - end), end, rest };
}

/** @param {unknown} one @param {unknown} other */
export const same = (one, other) => one === other || JSON.stringify(one) === JSON.stringify(other);
