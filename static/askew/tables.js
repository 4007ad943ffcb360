/* Tables whose rows and columns have ids, and what became of one beside what it was.

   A table is {header, rows, header_rows?, row_ids?, column_ids?, header_id?}, its cells texts; ids default to r0, r1,
   ... and c0, c1, ... and h. No table is ever changed, and nothing here touches the page. */

/* The table with every id spelt out: the same one for the same table. */
/** @param {Table} table @returns {WholeTable} */
export function withIds(table) {
  if (table.row_ids && table.column_ids && table.header_id && table.header_rows) return /** @type {WholeTable} */ (table);
  let known = spelt.get(table);
  if (!known) {
    known = {
      ...table,
      header_rows: table.header_rows ?? [],
      row_ids: table.row_ids ?? table.rows.map((_, index) => `r${index}`),
      column_ids: table.column_ids ?? table.header.map((_, index) => `c${index}`),
      header_id: table.header_id ?? "h",
    };
    spelt.set(table, known);
  }
  return known;
}

/** @type {WeakMap<Table, WholeTable>} */
const spelt = new WeakMap();

/* id -> place, of a list that is never changed. */
/** @param {readonly string[]} ids @returns {Places} */
export function placesOf(ids) {
  let places = placesKnown.get(ids);
  if (!places) {
    places = new Map(ids.map((id, place) => [id, place]));
    placesKnown.set(ids, places);
  }
  return places;
}

/** @type {WeakMap<readonly string[], Places>} */
const placesKnown = new WeakMap();

/* The edited table with its changes marked, removed rows and columns still in their places:
   columns [{id, name, old, removed, inserted, from, to}], rows [{id, number, removed, inserted, cells, old}] and the
   ids of both (columnIds, rowIds: the same list as long as nothing comes, goes or moves), where
   `old` of a row maps a column's position to what stood there. Rows without a change are the same objects as long as
   the base and the columns are, so a page can tell by identity which to paint again. */
/** @param {WholeTable} base @param {WholeTable} edited @param {MarkedMemory} memory @returns {MarkedTable} */
export function marked(base, edited, memory = { shape: "", rows: new Map() }) {
  const columnIds = weave(base.column_ids, edited.column_ids);
  const rowIds = weave(base.row_ids, edited.row_ids);
  const columns = columnIds.map((id) => {
    const from = base.column_ids.indexOf(id);
    const to = edited.column_ids.indexOf(id);
    const name = to < 0 ? base.header[from] : edited.header[to];
    const old = from >= 0 && to >= 0 && base.header[from] !== name ? base.header[from] : null;
    return { id, name, old, removed: to < 0, inserted: from < 0, from, to };
  });
  const shape = columns.map(({ id, from, to }) => `${id}:${from}:${to}`).join();
  if (memory.shape !== shape) memory.rows.clear();
  memory.shape = shape;
  const before = placesOf(base.row_ids);
  const after = placesOf(edited.row_ids);
  const rows = rowIds.map((id) => {
    const was = before.has(id) ? base.rows[before.get(id)] : null;
    const is = after.has(id) ? edited.rows[after.get(id)] : null;
    const known = memory.rows.get(id);
    if (known && known.was === was && known.is === is) return known.row;
    const row = markedRow(id, was, is, columns, before.has(id) ? before.get(id) + 1 : null);
    memory.rows.set(id, { was, is, row });
    return row;
  });
  return { columns, rows, columnIds, rowIds };
}

/** @param {string} id @param {readonly string[] | null} was @param {readonly string[] | null} is @param {readonly MarkedColumn[]} columns @param {number | null} number @returns {MarkedRow} */
function markedRow(id, was, is, columns, number) {
  const old = new Map();
  const cells = columns.map(({ from, to }, place) => {
    const before = was && from >= 0 ? was[from] : null;
    const now = is && to >= 0 ? is[to] : null;
    if (before !== null && now !== null && before !== now) old.set(place, before);
    return now ?? before ?? "";
  });
  return { id, number, removed: is === null, inserted: was === null, cells, old: old.size ? old : null };
}

/* The order of `after`, with what only `before` has put below what it followed there. */
/** @template {string | null} T @param {readonly T[]} before @param {readonly T[]} after @returns {readonly T[]} */
export function weave(before, after) {
  if (before === after) return after;
  const present = new Set(after);
  const below = new Map();
  let above = null;
  for (const id of before) {
    if (present.has(id)) above = id;
    else if (below.has(above)) below.get(above).push(id);
    else below.set(above, [id]);
  }
  if (!below.size) return after;
  const order = [...(below.get(null) ?? []), ...after.flatMap((id) => [id, ...(below.get(id) ?? [])])];
  return equal(order, before) ? before : order; // nothing came or moved: what is gone keeps its place
}

/** @param {unknown} one @param {unknown} other @returns {boolean} */
export function equal(one, other) {
  if (one === other) return true;
  if (!Array.isArray(one) || !Array.isArray(other)) return false;
  return one.length === other.length && one.every((part, index) => equal(part, other[index]));
}
