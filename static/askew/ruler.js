/* How wide texts are: in the font of an element, without laying any out. */

import { formatOf } from "./cells.js";
import { element } from "./elements.js";

export const BLANKS = /\s+/u;
const ASCII = /^[ -~\s]*$/u;
const DIGITS = /[0-9]/gu;

/* Finds the widest of many texts in the font of an element, without laying any out. */
export class Ruler {
  #context = /** @type {CanvasRenderingContext2D} */ (element("canvas").getContext("2d"));
  #most; // px that a letter may be wide: as much as those of the widest scripts, and some more
  #widths = new Map(); // px of each letter of ASCII

  /** @param {Element} place */
  constructor(place) {
    const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(place);
    this.#context.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
    this.#most = 1.4 * Number.parseFloat(fontSize);
  }

  /** @param {string} text */
  #width(text) {
    return Math.max(...text.split("\n").map((line) => this.#context.measureText(line).width));
  }

  /* The sum of the widths of its letters; Infinity where letters may join into others. */
  /** @param {string} text */
  #sum(text) {
    if (!ASCII.test(text)) return Infinity;
    let sum = 0;
    for (const letter of text) {
      if (!this.#widths.has(letter)) this.#widths.set(letter, this.#width(letter));
      sum += this.#widths.get(letter);
    }
    return sum;
  }

  /* The widest text of those it is given. Most are known not to be without measuring them: too short, with too small a sum
     (kerning adds less than a twentieth), or like one before but for digits that are no wider. */
  longest() {
    const most = this.#most;
    const [sumOf, widthOf] = [(/** @type {string} */ text) => this.#sum(text), (/** @type {string} */ text) => this.#width(text)];
    const sums = new Map(); // {text with zeros for digits: the largest sum}
    return {
      text: "",
      width: 0,
      mayBe(/** @type {string} */ text) {
        return text.length * most > this.width;
      },
      take(/** @type {string} */ text) {
        if (!this.mayBe(text)) return;
        const sum = sumOf(text);
        const pattern = text.replace(DIGITS, "0");
        if (1.05 * sum <= this.width || (sum < Infinity && sums.get(pattern) >= sum)) return;
        sums.set(pattern, sum);
        const width = widthOf(text);
        if (width > this.width) Object.assign(this, { text, width });
      },
    };
  }
}

/* The parts of a cell's text that are never broken: its words, or a number as a whole. */
/** @param {string} text @param {boolean} numeric */
export function partsOf(text, numeric) {
  return numeric && formatOf(text).kind === "number" ? [text] : text.split(BLANKS);
}

/* The pixels that a cell needs for the longest of these words in the font of an element in it. */
/** @param {Element} cell @param {Element} place @param {readonly string[]} words */
export function roomFor(cell, place, words) {
  const longest = new Ruler(place).longest();
  for (const word of words) longest.take(word);
  return Math.ceil(longest.width + 1 + paddingOf(cell));
}

/** @param {Element} cell */
export function paddingOf(cell) {
  const { paddingLeft, paddingRight } = getComputedStyle(cell);
  return Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight);
}

/** CSS of a width that follows the zoom. @param {number} rem */
export const scaled = (rem) => `calc(${Math.ceil(rem * 1e5) / 1e5}rem * var(--zoom, 1))`;

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
