/* Icons of the buttons over a table, drawn in lines on 16 x 16. A screen reader skips them: the button has a name. */

/** @type {Record<string, string>} */
const PATHS = {
  close: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  undo: "M5.5 3 2.5 6l3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H5",
  redo: "M10.5 3l3 3-3 3M13.5 6H6a3.5 3.5 0 0 0 0 7h5",
  mark: "M3 8.5 6.5 12 13 4.5",
  remove: "M2 4.5h12v7H2zM5.5 8h5",
  "remove-column": "M4.5 2h7v12h-7zM6.5 8h3",
  insert: "M2 2.5h12v4.5H2zM8 9.5v5M5.5 12h5",
  keep: "M5 2H2v3M11 2h3v3M14 11v3h-3M5 14H2v-3M5.5 5.5h5v5h-5z",
  restore: "M3 3v3.5h3.5M3.4 6.3A5 5 0 1 1 3.2 10",
  previous: "M13 8H3.5M7 4 3 8l4 4",
  next: "M3 8h9.5M9 4l4 4-4 4",
  find: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5 14 14",
  more: "M3 8h.02M8 8h.02M13 8h.02M3 7.8v.4M8 7.8v.4M13 7.8v.4",
  read: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  fold: "M2.5 3h11M2.5 13h11M5.5 6.5 8 9l2.5-2.5",
  layout: "M2 3h12v10H2zM8 3v10",
};

const SVG = "http://www.w3.org/2000/svg";

/* An <svg> element, or null for a name without an icon. */
/** @param {string} name */
export function icon(name) {
  if (!(name in PATHS)) return null;
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("class", "icon");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
