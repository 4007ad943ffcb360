/* What every page loads: the personal settings and menus, and the script of each part that the page has. */

import "./display.js";
import "./menus.js";

const has = (/** @type {string} */ selector) => document.querySelector(selector) !== null;

if (has(".figure-menu")) import("./figure-menu.js");
if (has("[data-selects]")) import("./select-all.js");
if (has("[data-copies]")) import("./copying.js");
if (has("[data-fold]")) import("./folds.js");
if (has("[name=time_zone]")) import("./time-zone.js");
if (has("#preview")) import("./definition-preview.js");
if (has("input[name=section]")) import("./unsaved.js");
if (has("[data-uploads]")) import("./upload.js");
