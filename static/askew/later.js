/* What few moments need: a module, and the rules of what it draws (later.css). */

/** @type {Promise<unknown> | null} */
let sheet = null;

/* A function that fetches a module when it is first wanted, and again where it did not come. */
/** @template T @param {() => Promise<T>} load @returns {() => Promise<T>} */
export function later(load) {
  /** @type {Promise<T> | null} */
  let module = null;
  return () => (module ??= styled(load).catch((problem) => {
    module = null;
    throw problem;
  }));
}

/* Load a module; resolves once the rules of what it draws hold. */
/** @template T @param {() => Promise<T>} load */
export async function styled(load) {
  const link = document.querySelector("link[data-later]");
  if (link?.disabled) {
    link.disabled = false;
    sheet = new Promise((resolve) => {
      for (const kind of ["load", "error"]) link.addEventListener(kind, resolve);
    });
  }
  const [module] = await Promise.all([load(), sheet]);
  return module;
}
