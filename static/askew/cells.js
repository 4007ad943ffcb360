/* How a cell is written: the browser's half of tableqa/cells/text_formats.py, tested on the same vectors
   (tests/vectors/contracts.json). It points things out; it never rewrites. */

import { strip } from "./words.js";

const LONGEST = 60; // characters up to which a text is looked at; anything longer is text

const CURRENCY = "(?:[A-Z]{0,3}[$€£¥₹₩₽₺₴₪฿₫₦₱]|(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|SEK|NOK|DKK|Rs\\.?)(?= ?[0-9(+-]))";
const NUMBER = whole(
  "(?<open>\\()?(?<sign>[-+−–])?"
  + `(?<prefix>(?:${CURRENCY}|[#~<>≤≥]) ?)?(?<openInside>\\()?(?<signInside>[-+−–])?`
  + "(?<whole>[0-9]{1,3}(?:(?<mark>[, '’\\u00a0\\u202f\\u2009])[0-9]{3})(?:\\k<mark>[0-9]{3})*|[0-9]+)"
  + "(?:\\.(?<decimals>[0-9]+))?"
  + "(?<suffix>[ \\u00a0\\u202f]?(?:[%‰$€£¥₹₩₽₺₴₪฿₫₦₱]|st|nd|rd|th|[a-zµ°²³]{1,12}(?:\\/[a-z]{1,5})?))?"
  + "(?<close>\\))?(?<percent>%)?",
);
const MONTHS = "January|February|March|April|June|July|August|September|October|November|December";
const SHORT_MONTHS = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec";
const DATE_WORDS = whole(
  `(?=.*[0-9])(?:(?:${MONTHS}|May|${SHORT_MONTHS})\\b\\.?|[0-9]{1,4}(?:st|nd|rd|th)?\\b|[ ,./-])+(?:\\([A-Za-z]+\\))?`,
);
const NAMES_A_MONTH = new RegExp(`${SHORT_MONTHS}|May`, "u");
const DATE_NUMBERS = whole("[0-9]{4}([-/.])[0-9]{1,2}\\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\\2[0-9]{2}(?:[0-9]{2})?");
const TIME = whole("[0-9]{1,3}(?::[0-9]{2}){1,2}(?:\\.[0-9]+)?(?: ?[AaPp]\\.?[Mm]\\.?)?");
const NONE = whole("[\\s\\x1c-\\x1f\\x85\\u200b\\ufeff]*|[-–—−?.…]+|n\\/?a|N\\/?A|none|None|nan|NaN|tbd|TBD|TBA");

/** @param {string} pattern */
function whole(pattern) {
  return new RegExp(`^(?:${pattern})$`, "u");
}

/* {kind: none | number | date | time | text, mask, prefix, suffix, mark, decimals, size, minus}. */
/** @param {string} text @returns {TextFormat} */
export function formatOf(text) {
  let known = remembered.get(text);
  if (!known) {
    if (remembered.size >= REMEMBERED) remembered.clear();
    known = readFormat(text);
    remembered.set(text, known);
  }
  return known;
}

const REMEMBERED = 4_000; // texts; a page may show a thousand tables
/** @type {Map<string, TextFormat>} */
const remembered = new Map();

/** @param {string} given @returns {TextFormat} */
function readFormat(given) {
  if ([...given].length > LONGEST) return format("text");
  if (NONE.test(given)) return format("none");
  const text = strip(given);
  if (TIME.test(text)) return format("time", { mask: text.replace(/[0-9]/g, "0").replace(/^0+/, "0") });
  if ((DATE_WORDS.test(text) && NAMES_A_MONTH.test(text)) || DATE_NUMBERS.test(text)) return format("date", { mask: dateMask(text) });
  const found = NUMBER.exec(text)?.groups;
  if (!found || (found.percent && !found.close) || !bracketsMatch(found)) return format("text");
  const sign = found.sign ?? found.signInside ?? "";
  const bracket = found.open ?? found.openInside;
  return format("number", {
    prefix: found.prefix ?? "",
    suffix: suffixOf(found.suffix ?? found.percent ?? ""),
    mark: found.mark ?? "",
    decimals: (found.decimals ?? "").length,
    size: found.whole.replace(/[^0-9]/g, "").length,
    minus: bracket ? "(" : sign && sign !== "+" ? "-" : "",
  });
}

/** @param {TextFormat["kind"]} kind @param {Partial<TextFormat>} more @returns {TextFormat} */
function format(kind, more = {}) {
  return { kind, mask: "", prefix: "", suffix: "", mark: "", decimals: 0, size: 0, minus: "", ...more };
}

/** @param {Record<string, string | undefined>} groups */
function bracketsMatch({ open, openInside, close, sign, signInside }) {
  const opened = [open, openInside].filter(Boolean).length;
  const signs = [sign, signInside].filter(Boolean).length;
  return opened === (close ? 1 : 0) && opened + signs <= 1;
}

/* One year, two years; 1st, 2nd, 3rd: the same way of writing. */
/** @param {string} text */
function suffixOf(text) {
  if (["st", "nd", "rd", "th"].includes(strip(text))) return "th";
  return [...strip(text)].length > 3 ? text.replace(/s$/, "") : text;
}

/* Days and months have one or two digits without being written differently. */
/** @param {string} text */
function dateMask(text) {
  return text
    .replace(new RegExp(`\\b(?:${MONTHS})\\b`, "g"), "Month")
    .replace(new RegExp(`\\b(?:${SHORT_MONTHS})\\b`, "g"), "Mon")
    .replace(/([0-9])(?:st|nd|rd|th)\b/g, "$1th")
    .replace(/[0-9]{4}/g, "Year")
    .replace(/[0-9]{1,3}/g, "0");
}

/* Whether `text`, in place of `old` (null in a new row), is written as its column is. */
/** @param {string | null} old @param {string} text @param {readonly string[]} column */
export function sameFormat(old, text, column) {
  const { texts, forms: others, hasNone } = formatsOf(column);
  if (text === old || texts.has(text)) return true;
  const fresh = formatOf(text);
  const before = old === null ? format("none") : formatOf(old);
  if (fresh.kind === "none") return hasNone || before.kind === "none";
  const forms = before.kind === "none" ? others : [...others, before];
  if (!forms.length) return true;
  const like = forms.filter(({ kind }) => kind === fresh.kind);
  if (fresh.kind === "text") return before.kind === "text" || (before.kind === "none" && like.length > 0);
  if (!like.length) return false;
  const mixed = forms.some(({ kind }) => kind !== fresh.kind); // then numbers among words have no one form
  return (mixed && before.kind !== fresh.kind) || alike(fresh, before, like);
}

/* The text to name when `text` is not written as it should be, or null. */
/** @param {string | null} old @param {string} text @param {readonly string[]} column */
export function modelFor(old, text, column) {
  const { first, large } = formatsOf(column);
  const before = formatOf(old ?? "");
  if (formatOf(text).size > 3 && (before.size > 3 || large !== null)) return before.size > 3 ? old : large;
  return before.kind !== "none" ? old : first;
}

/* The texts and ways of writing that a column has, each once, whether it has cells that say nothing, and the first cell
   that says anything, and the first number of four digits and more. */
/** @param {readonly string[]} column @returns {ColumnFormats} */
function formatsOf(column) {
  if (!columns.has(column)) {
    const all = column.map(formatOf);
    const says = all.filter(({ kind }) => kind !== "none");
    const forms = [...new Map(says.map((form) => [Object.values(form).join("\u0000"), form])).values()];
    /** @param {(form: TextFormat) => boolean} isSo */
    const cell = (isSo) => column[all.findIndex(isSo)] ?? null;
    columns.set(column, {
      texts: new Set(column), forms, hasNone: says.length < all.length,
      first: cell(({ kind }) => kind !== "none"), large: cell(({ size }) => size > 3),
    });
  }
  return columns.get(column);
}

/** @type {WeakMap<readonly string[], ColumnFormats>} */
/** @type {WeakMap<readonly string[], ColumnFormats>} */
const columns = new WeakMap();

/* A number may have as many decimals as the one that it replaces, or as one of its unit has. A year above a column of
   amounts does not show how an amount is written. */
/** @param {TextFormat} fresh @param {TextFormat} before @param {readonly TextFormat[]} forms */
function alike(fresh, before, forms) {
  if (fresh.kind !== "number") return forms.some((form) => masks(form).some((mask) => masks(fresh).includes(mask)));
  const amounts = forms.filter((form) => likeAYear(fresh) || !likeAYear(form) || form === before);
  const unit = (amounts.length ? amounts : forms).filter(({ prefix, suffix }) => prefix === fresh.prefix && suffix === fresh.suffix);
  if (before.kind === "number" && unit.length) unit.push(before);
  return unit.some(({ decimals }) => decimals === fresh.decimals)
    && thousandsAlike(fresh, forms) && minusAlike(fresh, forms);
}

/** @param {TextFormat} form */
const likeAYear = ({ prefix, suffix, mark, decimals, size, minus }) => size === 4 && !prefix && !suffix && !mark && !decimals && !minus;

/* May is the long and the short name of its month. */
/** @param {TextFormat} form */
const masks = ({ mask }) => [mask.replaceAll("May", "Month"), mask.replaceAll("May", "Mon")];

/* Numbers of four digits and more show whether a column parts thousands; without one, both ways are fine. */
/** @param {TextFormat} fresh @param {readonly TextFormat[]} numbers */
function thousandsAlike(fresh, numbers) {
  const large = numbers.filter(({ size }) => size > 3);
  return fresh.size <= 3 || !large.length || large.some(({ mark }) => mark === fresh.mark);
}

/** @param {TextFormat} fresh @param {readonly TextFormat[]} numbers */
function minusAlike(fresh, numbers) {
  const signed = numbers.filter(({ minus }) => minus);
  return !fresh.minus || !signed.length || signed.some(({ minus }) => minus === fresh.minus);
}
