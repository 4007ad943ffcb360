/* A module that few moments need: fetched when it is first wanted, and again where it did not come. */

/** @template T @param {() => Promise<T>} load @returns {() => Promise<T>} */
export function later(load) {
  /** @type {Promise<T> | null} */
  let module = null;
  return () => (module ??= load().catch((problem) => {
    module = null;
    throw problem;
  }));
}
