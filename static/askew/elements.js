/* Elements of a page, made in one expression. */

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, unknown>} properties  of the element
 * @returns {PagePart<HTMLElementTagNameMap[Name]>}
 */
export function element(name, properties = {}) {
  return Object.assign(/** @type {PagePart<HTMLElementTagNameMap[Name]>} */ (document.createElement(name)), properties);
}

/* Change the text of a node rather than its children: the latter makes the browser look at all that could depend on them. */
/** @param {Element & {firstChild: ChildNode & {data?: string} | null}} node @param {string} text */
export function write(node, text) {
  if (!node.firstChild) node.append(text);
  else if (node.firstChild.data !== text) node.firstChild.data = text;
}
