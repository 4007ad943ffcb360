/* What the page of an item and its table hand to each other, for the types of JSDoc comments. */

/* A field of the form ([data-field]): an input, a group of them, or an element of a task type. */
type Field = FormPart & {
  value: any;
  blank?: unknown;
  offer?: (answers?: readonly string[] | null) => void;
  readonly asks?: boolean;
  inWords?(value: any): string[];
};

/* An element of a task type in the form. */
type FormPart = PagePart & {
  readonly keyTable?: KeyTable;
  shown?(value: any, assignment: Assignment): void;
  settle?(): Promise<string>;
};

/* An option of a field, with the key that chooses it. */
type KeyOption = KeyAction & { readonly input: HTMLInputElement };

interface Progress {
  readonly submitted: number;
  readonly total: number;
}

interface StoredVerdict {
  readonly data: Record<string, unknown>;
  readonly violations: readonly PathViolation[];
  readonly answer?: Record<string, readonly string[]> | null;
}
type PathViolation = Violation & { readonly path?: string };

/* An answer of the managers to a question of the person. */
interface QuestionAnswer {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  readonly is_whole: boolean;
}

/* An item as the server hands it out. */
interface ItemAssignment extends Assignment {
  readonly type: string;
  readonly variant: string;
  readonly version: number;
  readonly base: string;
  readonly guidelines: string;
  readonly grid: string;
  readonly suggests: string;
  readonly batch: { readonly id: string };
  readonly shows: Record<string, any>;
  readonly contract: Contract | null;
  readonly progress: Progress;
  readonly draft: (DraftReply & { readonly outdated?: string }) | null;
  readonly sent_back: string | null;
  readonly answers?: readonly QuestionAnswer[];
  readonly same_question: { readonly number: number; readonly total: number } | null;
  readonly lease?: Lease;
}
interface Lease {
  readonly seconds: number;
}

/* An earlier item of the person, with the response that was submitted. */
interface EarlierItem extends ItemAssignment {
  readonly response: ResponseBody | null;
  readonly unsure: boolean;
  readonly ended_at: string;
}

/* A line of a list of columns, and what can be chosen in it (columns.js). */
interface ColumnChoice {
  readonly text: string;
  readonly by?: string;
  readonly why?: string;
  readonly state?: "" | "taken" | "rejected";
  readonly rejectable?: boolean;
}
interface ColumnLine {
  readonly id: string;
  readonly name: string;
  readonly now?: string | null;
  readonly note?: string;
  readonly column?: string;
  readonly state?: string;
  readonly choices?: readonly ColumnChoice[];
  readonly details?: readonly { readonly text: string; readonly look?: boolean }[];
  readonly reasons?: readonly string[];
  readonly act?: readonly [label: string, name: string];
  readonly own?: string;
  readonly noneLabel?: string;
  readonly key?: string;
}

/* A state of the table that can be returned to. */
interface GridStep {
  readonly operations: readonly Operation[];
  readonly cells: Cells;
  readonly here: GridCell;
}

/* What a mode makes of the table (modes.js); what it does not have, it does not do. */
interface GridMode {
  readonly isGrid: boolean;
  readonly hasHead: boolean;
  readonly headsStand: boolean;
  readonly writes: boolean;
  readonly label: string;
  readonly help: string;
  readonly first?: GridCell | null;
  readonly typing?: boolean;
  readonly changes?: readonly unknown[];
  readonly removing?: { readonly rows: boolean; readonly columns: boolean } | null;
  listen(painted: Painted, calls: PointerCalls): void;
  readonly [act: string]: any;
}
/* The current cell. Where headers stand for their columns, `column` is null for a row's number and the corner. */
interface GridCell {
  readonly row: string;
  readonly column: string;
}

/* How a table is shown: grid.js says what each means. */
interface GridOptions {
  readonly mode?: string;
  readonly cells?: readonly Pair[];
  readonly marks?: readonly Pair[];
  readonly protected?: readonly (readonly string[])[];
  readonly allowed?: readonly string[] | null;
  readonly limit?: number | null;
  readonly cellFormat?: string;
  readonly label?: string;
  readonly variants?: Variants;
  readonly whole?: boolean;
  readonly tools?: readonly Tool[];
}

/* A rectangle that is drawn over cells. */
interface DrawnArea extends Area {
  readonly kind: string;
}
interface AreaPart {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly right: number;
  readonly kind: string;
  readonly opens: boolean;
  readonly ends: boolean;
}
interface AreaBox extends AreaPart {
  readonly top: number;
  readonly height: number | null;
  readonly joined?: boolean;
}

/* The head of a painted table; its last row has the names of the columns. */
type PaintedHead = PagePart<HTMLTableSectionElement> & { readonly lastElementChild: PaintedLine };
type PaintedLine = HTMLElement & { readonly firstElementChild: HTMLElement; readonly children: HTMLCollectionOf<HTMLElement> };

type PaintedTr = PagePart<HTMLTableRowElement> & {
  readonly previousElementSibling: PaintedTr | null;
  readonly parentElement: { readonly previousElementSibling: HTMLTableSectionElement | null };
};
/* What stands in the upper left corner of what scrolls, and how much of each is past it. */
interface TableCorner {
  readonly row: { readonly id: string; readonly past: number } | null;
  readonly column: { readonly id: string; readonly past: number };
  readonly start: boolean;
}

/* A row as it was painted last. */
interface PaintedRow {
  readonly tr: HTMLTableRowElement;
  row: ShownRow | null;
  flags: readonly string[] | null;
  columns: string;
}
interface PaintingOptions {
  readonly grid: boolean;
  readonly choosing: boolean;
  readonly label: string;
  readonly removing: { readonly rows: boolean; readonly columns: boolean } | null;
  flags(row: string): string[] | null;
  headFlags(column: string): string;
  readonly notes: ReadonlyMap<string, string>;
  readonly moved: ReadonlySet<string>;
}
type SourceTable = WholeTable & {
  readonly title?: string;
  readonly caption?: string;
  readonly spans?: readonly { readonly row: string; readonly column: string; readonly rows: number; readonly columns: number }[];
};
type Merged = Map<string, Map<string, string>>;
