/* What scripts find on a page of Askew, for the types of their JSDoc comments. The server writes the page, so a part that
   a script asks for is there: null is left out. Where a part may be missing, the script uses `?.` or tests for it. */

// --- elements by selector ------------------------------------------------------------------------------------------

interface HTMLElementTagNameMap {
  "askew-annotate": AnnotatePage;
  "askew-comparison": ComparisonElement;
  "askew-prediction": PredictionElement;
  "askew-programs": ProgramsElement;
  "askew-proposals": ProposalsElement;
  "askew-grid": GridElement;
}

type Tags = HTMLElementTagNameMap & Omit<SVGElementTagNameMap, keyof HTMLElementTagNameMap>;
/* The name of the element at the end of a selector. */
type Compound<S extends string> = S extends `${string} ${infer Rest}` ? Compound<Rest> : S;
type TagName<S extends string> = S extends `${infer Name}${"[" | ":" | "." | "#"}${string}` ? TagName<Name> : S;
/* The type of what a selector finds: by its last name, HTMLElement without one. */
type Selected<S extends string> = S extends `${infer One}, ${infer Other}`
  ? Selected<One> | Selected<Other>
  : PagePart<TagName<Compound<S>> extends keyof Tags ? Tags[TagName<Compound<S>>] : HTMLElement>;

/* A part of the page with the attributes, text and surroundings that the server gives it. */
type PagePart<E = HTMLElement> = Listening & E & {
  readonly dataset: Record<string, string>;
  readonly parentElement: PagePart;
  textContent: string;
};

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

type At<E, T = PagePart> = E & { readonly target: T; readonly currentTarget: HTMLElement };
type KeyPress = At<KeyboardEvent>;
type Press = At<MouseEvent>;

interface PageEvents {
  "grid-change": At<CustomEvent<{ typing: boolean }>, GridElement>;
  "grid-here": At<CustomEvent, GridElement>;
  "draft-checked": CustomEvent<{ violations: readonly Violation[]; answer: ComputedAnswer | null }>;
  "response-entered": CustomEvent;
  "program-computed": CustomEvent<{ computed: readonly string[] | null; alternatives?: readonly Alternative[] }>;
  "item-shown": CustomEvent<{ assignment: Assignment }>;
  "item-suggested": CustomEvent<{ suggestions: Suggestions | null; reason: string }>;
}

type Heard<Events, K extends keyof Events> = K extends "input" | "change" ? At<Events[K], PagePart<HTMLInputElement>> : At<Events[K]>;

interface Listening {
  addEventListener<K extends keyof PageEvents>(
    type: K, listener: (event: PageEvents[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K, listener: (event: Heard<HTMLElementEventMap, K>) => unknown, options?: boolean | AddEventListenerOptions): void;
}
interface HTMLElement {
  addEventListener<K extends keyof PageEvents>(
    type: K, listener: (event: PageEvents[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K, listener: (event: Heard<HTMLElementEventMap, K>) => unknown, options?: boolean | AddEventListenerOptions): void;
}

interface Document {
  addEventListener<K extends keyof DocumentEventMap>(
    type: K, listener: (event: Heard<DocumentEventMap, K>) => unknown, options?: boolean | AddEventListenerOptions): void;
}

/* What a browser stores under a name that it does not have is null. */
interface JSON {
  parse(text: string | null): any;
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


/* A new text that is not written as its column is, and what it should be written like. */
interface OddText {
  readonly row: string;
  readonly column: string;
  readonly text: string;
  readonly like: string;
}
/* What follows each id, or comes before it. */
type Links = Map<string | null, string | null>;

/* row id -> the ids of columns. */
type CellRows = ReadonlyMap<string, ReadonlySet<string>>;
/* A place in the table as it is shown, counted from 0; row -1 is the header. */
interface Spot {
  readonly row: number;
  readonly column: number;
}
type SpanKind = "cells" | "rows" | "columns";
interface Area {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}
/* Rows and columns that were removed at a time. */
interface Away {
  readonly rows: Set<string>;
  readonly columns: Set<string>;
}

// --- a table on a page, as its modes and the page use it (<askew-grid>) ----------------------------------------------

interface SayOptions {
  readonly shown?: boolean;
  readonly after?: string;
  readonly goal?: Position;
}

interface Tool {
  readonly name: string;
  readonly label: string | (() => string);
  readonly keys?: string;
  act(): void;
  off?(): boolean;
}

/* A table with its operations, or variants of one table, as the grid shows them. */
type Edits = import("../static/askew/edits.js").Edits;
type Variants = import("../static/askew/variants.js").Variants;
type ShownEdits = Omit<Edits, "state"> & { state: ShownTable; changes?(): Change[] };
/* A cell that must stay, and why. */
type ProtectedCell = readonly [row: string, column: string, reason: string | null];
type Guard = import("../static/askew/guard.js").Guard;

type GridElement = import("../static/askew/grid.js").AskewGrid;

// --- the page of an item (<askew-annotate>) ---------------------------------------------------------------------------

type AnnotatePage = import("../static/askew/annotate.js").AskewAnnotate;

/* What a key of the page does: it runs, or chooses an input. */
interface KeyAction {
  readonly name: string;
  readonly key: string;
  readonly label: string;
  readonly input?: HTMLInputElement;
  run?(event: KeyboardEvent): void;
}
/* Digits that may begin a longer key. */
interface TypedNumber {
  readonly text: string;
  readonly group: Field;
  readonly input?: HTMLInputElement;
}
/* A table for the list of keys. */
interface KeyTable {
  readonly title: string;
  readonly rows: readonly (readonly [keys: readonly string[], words: string])[];
}

/* What a field of a form has: a text, or the values of choices; undefined where it is not asked. */
type FieldValue = string | readonly string[] | undefined;

/** A condition as the server writes it: [field, operator, value], or several of which all or one must hold. */
type ConditionTree = readonly [string, string, string] | { and: readonly ConditionTree[] } | { or: readonly ConditionTree[] };

/* A page with shortcuts: that of an item, or one that only has actions. */
interface KeyPage extends HTMLElement {
  readonly commits?: AnnotatePage["commits"];
  choose?(options: readonly KeyAction[], text: string, typed: TypedNumber | null): void;
  endNumber?(typed: TypedNumber): boolean;
}
/* What a person changed in the shortcuts. */
interface OwnKeys {
  readonly off?: boolean;
  readonly keys?: Record<string, string>;
}
type KeyRow = KeyTable["rows"][number];

/* What may have the focus; a table gives it to its current cell. */
type FocusPart = HTMLInputElement & { focusCell?(): void };

/* What an adjudicator has chosen and written about an item. */
interface AdjudicationDraft {
  readonly responses?: string;
  readonly choose?: readonly string[];
  readonly back?: string;
  note?: string;
  exclude?: string;
  back_note?: string;
  readonly at?: number;
}
type DecisionForm = PagePart<HTMLFormElement> & {
  readonly elements: Record<"responses" | "back" | "note" | "exclude" | "back_note", HTMLInputElement>;
};

// --- a pointer on a painted table -----------------------------------------------------------------------------------

/* A cell, or a row's number (column null) or the corner (both null). */
interface Pressed {
  readonly row: string | null;
  readonly column: string | null;
}
interface Painted {
  readonly table: HTMLElement;
  readonly sheet: HTMLElement;
  placeOf(part: Element): Pressed | null;
}
interface PressedHow {
  readonly again: boolean;
  readonly extend: boolean;
  readonly dragging: boolean;
  readonly touch: boolean;
}
interface PointerCalls {
  settle(place: Pressed, extend: boolean): void;
  pressed(place: Pressed, how: PressedHow): void;
  doubled(): void;
  reach(place: Pressed, start: Pressed): boolean;
  released(start: Pressed): void;
  dropped(): void;
  isHere(place: Pressed): boolean;
  writes(target: PagePart): unknown;
}
interface PointerPress {
  readonly place: Pressed;
  readonly again: boolean;
  readonly extend: boolean;
  readonly x: number;
  readonly y: number;
  moved: boolean;
  at: Pick<PointerEvent, "clientX" | "clientY">;
  scrolling?: boolean;
  done?: boolean;
}

/* Some properties of an element, and entries of its dataset. */
type Properties<E> = Omit<Partial<E>, "dataset"> & { dataset?: Record<string, unknown> };

/* What a checklist says of a response: annotate.js. */
interface FormState {
  readonly violations: readonly Violation[];
  readonly isChanged: boolean;
  readonly waived: boolean;
  readonly started: boolean;
  readonly pending: boolean;
  readonly checks: boolean;
  lacks(names: string | undefined): boolean;
  readonly missing: readonly (readonly [field: Field, sentence: string])[];
}

/* <askew-comparison>: variants of a table. */
interface ComparisonElement extends HTMLElement {
  focusTable(): void;
  compare(data: Comparison): void;
  next(by?: number): void;
  turn(): void;
}
interface Comparison {
  readonly table: Table;
  readonly variants: readonly Variant[];
  readonly marks?: readonly Pair[];
}
interface Variant {
  readonly letter: string;
  readonly name: string;
  readonly operations?: readonly Operation[];
  readonly cells?: readonly Pair[];
}

type FigureFile = HTMLButtonElement & HTMLAnchorElement;

// --- writing, finding and comparing in a table -----------------------------------------------------------------------

interface CellText {
  readonly row: string;
  readonly column: string;
  readonly text: string;
}
/* How the field of a cell was left. */
interface Kept {
  readonly stay?: boolean;
  readonly submit?: boolean;
  readonly move?: readonly [rows: number, columns: number];
  readonly tab?: number;
}
interface EditorOptions {
  readonly text: string;
  readonly typing: boolean;
  readonly label: string;
  judge(text: string): string | null;
  readonly handlers: { input(words: string | null): void; keep(how: Kept): void; cancel(): void };
}
type CellEditor = import("../static/askew/editor.js").Editor;

interface FindLine {
  readonly row: string;
  readonly texts: readonly string[];
}
interface Hit extends CellText {}
interface FindCalls {
  source(): { columns: readonly string[]; lines: readonly FindLine[] };
  show(hits: readonly Hit[], current: Hit | null, moves?: boolean): void;
  closed(place: { row: string; column: string } | null): void;
}
interface FurtherTools {
  find(): void;
  zoom(by: number): void;
}

/* What variants have at a place: the text of the base, and what variants say instead. */
interface Versions {
  readonly was: string | null;
  readonly now: readonly { readonly text: string; readonly by: string; readonly all: boolean }[];
}
/* Whose something is: the letters of variants. */
interface Owners {
  readonly by: string;
  readonly all: boolean;
}
interface LineNote extends Owners {
  readonly what: string;
}
/* A row as the grid draws it: of an edit, of variants, or (`left`) in the place of several without changes. */
type ShownRow = Omit<MarkedRow, "old"> & {
  readonly old: ReadonlyMap<number, string | Versions> | null;
  readonly special?: boolean;
  readonly left?: number;
  readonly notes?: readonly LineNote[];
  readonly by?: ReadonlyMap<number, Owners> | null;
};
type ShownColumn = Omit<MarkedColumn, "old"> & {
  readonly old: string | Versions | null;
  readonly notes?: readonly LineNote[];
};
interface ShownTable {
  readonly columns: readonly ShownColumn[];
  readonly rows: readonly ShownRow[];
  readonly columnIds: readonly string[];
  readonly rowIds: readonly string[];
}
interface Change {
  readonly row: string;
  readonly column: string;
  readonly words: string;
}



interface PredictionElement extends HTMLElement {
  readonly wants: boolean;
  readonly away: boolean;
  check(): Promise<void>;
}
interface ProposalsElement extends HTMLElement {
  readonly told: Promise<unknown>;
}
interface ProgramsElement extends HTMLElement {
  decide(alternative: Alternative): void;
}
