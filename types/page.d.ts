/* What scripts find on a page of Askew, for the types of their JSDoc comments. The server writes the page, so a part that
   a script asks for is there: null is left out. Where a part may be missing, the script uses `?.` or tests for it. */

// --- elements by selector ------------------------------------------------------------------------------------------

type Tags = HTMLElementTagNameMap & Omit<SVGElementTagNameMap, keyof HTMLElementTagNameMap>;
/* The name of the element at the end of a selector. */
type Compound<S extends string> = S extends `${string} ${infer Rest}` ? Compound<Rest> : S;
type TagName<S extends string> = S extends `${infer Name}${"[" | ":" | "." | "#"}${string}` ? TagName<Name> : S;
/* The type of what a selector finds: by its last name, HTMLElement without one. */
type Selected<S extends string> = S extends `${infer One}, ${infer Other}`
  ? Selected<One> | Selected<Other>
  : TagName<Compound<S>> extends keyof Tags ? Tags[TagName<Compound<S>>] : HTMLElement;

interface ParentNode {
  querySelector<S extends string>(selector: S): Selected<S>;
  querySelectorAll<S extends string>(selector: S): NodeListOf<Selected<S>>;
}

interface Element {
  closest<S extends string>(selector: S): Selected<S>;
}

// --- maps and lists ------------------------------------------------------------------------------------------------

/* As TypeScript itself has it for `list[0]`: what is asked for is there, or the script tests for it. */
interface Map<K, V> {
  get(key: K): V;
}
interface ReadonlyMap<K, V> {
  get(key: K): V;
}
interface WeakMap<K, V> {
  get(key: K): V;
}
interface Array<T> {
  pop(): T;
  shift(): T;
  at(index: number): T;
}
interface ReadonlyArray<T> {
  at(index: number): T;
}

// --- events --------------------------------------------------------------------------------------------------------

type At<E, T = HTMLElement> = E & { readonly target: T; readonly currentTarget: HTMLElement };
type KeyPress = At<KeyboardEvent>;
type Press = At<MouseEvent>;

interface PageEvents {
  "grid-change": At<CustomEvent<{ typing: boolean }>, GridElement>;
  "grid-here": At<CustomEvent, GridElement>;
  "item-shown": CustomEvent<{ assignment: Assignment }>;
  "item-suggested": CustomEvent<{ suggestions: Suggestions | null; reason: string }>;
}

type Heard<Events, K extends keyof Events> = K extends "input" | "change" ? At<Events[K], HTMLInputElement> : At<Events[K]>;

interface HTMLElement {
  addEventListener<K extends keyof PageEvents>(type: K, listener: (event: PageEvents[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K, listener: (event: Heard<HTMLElementEventMap, K>) => unknown, options?: boolean | AddEventListenerOptions): void;
}

interface Document {
  addEventListener<K extends keyof DocumentEventMap>(
    type: K, listener: (event: Heard<DocumentEventMap, K>) => unknown, options?: boolean | AddEventListenerOptions): void;
}

declare function clearTimeout(id: number | null): void;

// --- the catalogue of sentences ------------------------------------------------------------------------------------

declare var django: undefined | {
  gettext(message: string): string;
  ngettext(one: string, many: string, number: number): string;
};

// --- tables --------------------------------------------------------------------------------------------------------

/* A table as the server sends it: ids have defaults. */
type Table = Partial<WholeTable> & Pick<WholeTable, "header" | "rows">;

/* id -> place in a list. */
type Places = ReadonlyMap<string, number>;

type Pair = readonly [row: string, column: string];

/* A row or column that moved or came, and what it is put after: null for the first. */
type Moved = readonly [id: string, after: string | null];

interface MarkedColumn {
  readonly id: string;
  readonly name: string;
  readonly old: string | null;
  readonly removed: boolean;
  readonly inserted: boolean;
  readonly from: number;
  readonly to: number;
}

interface MarkedRow {
  readonly id: string;
  readonly number: number | null;
  readonly removed: boolean;
  readonly inserted: boolean;
  readonly cells: readonly string[];
  readonly old: ReadonlyMap<number, string> | null;
}

interface MarkedTable {
  readonly columns: readonly MarkedColumn[];
  readonly rows: readonly MarkedRow[];
  readonly columnIds: readonly string[];
  readonly rowIds: readonly string[];
}

/* What the last call found: the shape of the columns, and each row with what it was made of. */
interface MarkedMemory {
  shape: string;
  rows: Map<string, { was: readonly string[] | null; is: readonly string[] | null; row: MarkedRow }>;
}

/* How the texts of a column are written. */
interface ColumnFormats {
  readonly texts: ReadonlySet<string>;
  readonly forms: readonly TextFormat[];
  readonly hasNone: boolean;
  readonly first: string | null;
  readonly large: string | null;
}

/* What a step has besides its operations. */
interface StepDetails {
  readonly cells?: Cells;
  readonly here?: Position | null;
}
interface Step extends StepDetails {
  readonly operations: readonly Operation[];
}
/* A step without what it has in common with the operations after it. */
interface CutStep {
  readonly start: number;
  readonly cut: readonly Operation[];
  readonly end: number;
  readonly rest: StepDetails;
}
type Cells = import("../static/askew/selection.js").Cells;
interface Position {
  readonly row: string;
  readonly column: string | null;
}

// --- to be typed ---------------------------------------------------------------------------------------------------
interface GridElement extends HTMLElement {}
interface Assignment { id: string }
interface Suggestions { preparing?: boolean }

/* A new text that is not written as its column is, and what it should be written like. */
interface OddText {
  readonly row: string;
  readonly column: string;
  readonly text: string;
  readonly like: string;
}
/* What follows each id, or comes before it. */
type Links = Map<string | null, string | null>;
