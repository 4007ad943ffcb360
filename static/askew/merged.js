/* Several edited variants of one base table, merged into a single table: the model of tableqa/operations/merged_tables.py, with the
   same names and results (tests/vectors/merged.json). Nothing here touches the page. */

import { changesOfOrder } from "./operations.js";
import { equal, placesOf, weave } from "./tables.js";

/* {columns, rows, header, cells} of variants that share the ids of `base`, or null if one of them exchanged rows and
   columns. A column or row is {id, base, places, moved}; cells are {texts, changes}, with a text for each column and, in
   `changes`, column -> the texts of the variants where one of them differs. */
/** @param {WholeTable} base @param {readonly WholeTable[]} variants @returns {MergedTable | null} */
export function merge(base, variants) {
  if (variants.some((variant) => variant.header_id !== base.header_id)) return null;
  const rowIds = variants.map((variant, number) => uniqueIds(base.row_ids, variant.row_ids, number));
  const columnIds = variants.map((variant, number) => uniqueIds(base.column_ids, variant.column_ids, number));
  joinEqual(base.row_ids, rowIds, variants.map((variant) => textsOfRows(base.column_ids, variant)));
  joinEqual(base.column_ids, columnIds, variants.map((variant) => textsOfColumns(base.row_ids, variant)));
  const columns = lines(base.column_ids, columnIds);
  const rows = lines(base.row_ids, rowIds);
  return {
    columns,
    rows,
    above: base.header_rows.map((old, at) => cellsOf(columns, old, variants.map((variant) => variant.header_rows[at]))),
    header: cellsOf(columns, base.header, variants.map(({ header }) => header)),
    cells: rows.map((row) => cellsOf(
      columns,
      row.base === null ? null : base.rows[row.base],
      row.places.map((place, number) => (place === null ? null : variants[number].rows[place])),
    )),
  };
}

/** @param {MergedLine} line */
export const removedBy = ({ base, places }) => (base === null ? [] : numbersWhere(places, (place) => place === null));
/** @param {MergedLine} line */
export const insertedBy = ({ base, places }) => (base === null ? numbersWhere(places, (place) => place !== null) : []);

/* Whether a variant changes a row itself: its place, its existence or a cell that the base has. */
/** @param {MergedTable} merged @param {number} at */
export function hasChanges(merged, at) {
  const { base, places, moved } = merged.rows[at];
  if (base === null || moved.length || places.includes(null)) return true;
  return [...merged.cells[at].changes.keys()].some((column) => merged.columns[column].base !== null);
}

/** @template T @param {readonly T[]} list @param {(part: T) => boolean} holds */
const numbersWhere = (list, holds) => list.flatMap((part, number) => (holds(part) ? [number] : []));

/* New lines get the number of their variant, as variants call different lines by the same name. */
/** @param {readonly string[]} base @param {readonly string[]} ids @param {number} number */
function uniqueIds(base, ids, number) {
  const known = placesOf(base);
  return ids.map((id) => (known.has(id) ? id : `${number}:${id}`));
}

/** @param {readonly string[]} columnIds @param {WholeTable} variant */
function textsOfRows(columnIds, variant) {
  const places = columnIds.map((id) => variant.column_ids.indexOf(id));
  /** @param {number} at */
  return (at) => JSON.stringify(places.map((place) => (place < 0 ? null : variant.rows[at][place])));
}

/** @param {readonly string[]} rowIds @param {WholeTable} variant */
function textsOfColumns(rowIds, variant) {
  const known = placesOf(variant.row_ids);
  /** @param {number} at */
  return (at) => JSON.stringify([variant.header[at], ...rowIds.map((id) => (known.has(id) ? variant.rows[known.get(id)][at] : null))]);
}

/* New lines of several variants with equal texts behind the same line of the base get one id: that of the first. */
/** @param {readonly string[]} base @param {string[][]} ids @param {((place: number) => string)[]} texts */
function joinEqual(base, ids, texts) {
  const known = placesOf(base);
  const joined = new Map();
  ids.forEach((names, number) => {
    let anchor = "";
    const often = new Map();
    names.forEach((name, place) => {
      if (known.has(name)) {
        anchor = name;
        return;
      }
      const key = `${anchor}\n${texts[number](place)}`;
      often.set(key, (often.get(key) ?? 0) + 1);
      const whole = `${often.get(key)}\n${key}`;
      if (!joined.has(whole)) joined.set(whole, name);
      names[place] = joined.get(whole);
    });
  });
}

/** @param {readonly string[]} base @param {readonly (readonly string[])[]} variants @returns {MergedLine[]} */
function lines(base, variants) {
  const known = placesOf(base);
  const places = variants.map((ids) => placesOf(ids));
  const shared = variants.map((ids) => ids.filter((id) => known.has(id) && places.every((other) => other.has(id))));
  const agree = shared.length > 0 && shared.every((order) => equal(order, shared[0]));
  let order = agree ? weave(base, shared[0]) : base;
  for (const ids of variants) order = weave(ids, order);
  const moved = new Map();
  variants.forEach((ids, number) => {
    for (const [id] of changesOfOrder(base, ids.filter((one) => known.has(one)), []).moves) {
      moved.set(id, [...(moved.get(id) ?? []), number]);
    }
  });
  return order.map((id) => ({
    id, base: known.get(id) ?? null, places: places.map((place) => place.get(id) ?? null), moved: moved.get(id) ?? [],
  }));
}

/** @param {readonly MergedLine[]} columns @param {readonly string[] | null} old @param {readonly (readonly string[] | null)[]} variants @returns {MergedCells} */
function cellsOf(columns, old, variants) {
  const same = old !== null && columns.length === old.length && variants.every((cells) => cells === old);
  if (same && columns.every(({ base }, at) => base === at)) return { texts: old, changes: NONE };
  const changes = new Map();
  const texts = columns.map((column, at) => {
    const said = column.places.map((place, number) => (place === null || !variants[number] ? null : variants[number][place]));
    const present = new Set(said.filter((text) => text !== null));
    const text = old !== null && column.base !== null ? old[column.base] : present.size === 1 ? [...present][0] : "";
    if ([...present].some((other) => other !== text)) changes.set(at, said);
    return text;
  });
  return { texts, changes };
}

const NONE = new Map();
