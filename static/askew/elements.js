/* Elements of a page, made in one expression. */

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, unknown>} properties  of the element
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}
