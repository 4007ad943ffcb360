/* What the programming interface sends and takes, as far as scripts read it. */

/* The data of a response: a value for each field of the form. */
type ResponseData = Record<string, unknown> & { readonly answers?: readonly string[] };
/* What a person has entered, with the task type and the example that it belongs to. */
interface ResponseBody {
  readonly type: string;
  readonly variant: string;
  readonly version: number;
  readonly base: string;
  readonly data: ResponseData;
  readonly unsure?: boolean;
}

interface DraftReply {
  readonly revision: number;
  readonly response: ResponseBody;
  readonly saved_at: string;
  readonly violations?: readonly Violation[] | null;
}

/* The body of a refusal (RFC 9457). */
interface ProblemBody {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly draft?: DraftReply;
  readonly [part: string]: unknown;
}

/* A response as this browser keeps it. */
interface DraftCopy {
  readonly revision: number;
  readonly response: ResponseBody | null;
  readonly at: number;
  readonly unheard: readonly number[];
  readonly saved?: boolean;
}

interface DraftHandlers {
  saving(): void;
  saved(reply: DraftReply, response: ResponseBody): void;
  failing(problem: Problem, seconds: number): void;
  /* True where the page works on it: then nothing is sent. */
  refused(problem: Problem): boolean;
  stale(draft: DraftReply): void;
}
type Problem = import("../static/askew/api.js").Problem;

/* An item on the desk of a person, with what the page shows of it. */
interface Assignment {
  readonly id: string;
  readonly shows: { readonly suggestions?: Suggestions; readonly [part: string]: unknown };
  readonly suggests?: string;
  readonly help?: "" | "filled" | "list";
  readonly draft?: DraftReply | null;
  readonly annotation?: unknown;
  readonly contract?: Contract | null;
  readonly variant?: string;
  readonly loop?: ModelLoop | null;
}

/* The model that is asked about an item. */
interface ModelLoop {
  readonly model: string;
  readonly licence?: string;
  readonly when: "live" | "on_request";
  readonly gateway?: string;
  readonly panel?: readonly string[];
}

/* What a model answers to an example, and how it is judged. */
interface ModelAnswer {
  readonly answers: readonly string[];
  readonly expected: readonly string[];
  readonly right: boolean | null;
  readonly score: number | null;
  readonly confidence: string | null;
  readonly next_best: string;
  readonly rows_seen: number;
  readonly rows_total: number;
  readonly cells: readonly Pair[];
}
type VerdictPart = readonly [kind: string, words: string, short?: string];
/* What the server or the gateway says of a draft. */
interface ModelCheck {
  readonly state: "answered" | "waiting" | "busy" | "unavailable" | "stale" | "nothing" | "changed" | "slow";
  readonly words: string;
  readonly tries: number | null;
  readonly original: ModelAnswer | null;
  readonly perturbed: ModelAnswer | null;
  readonly verdict: string | null;
  readonly forms: readonly [string, string] | null;
  readonly line: readonly VerdictPart[];
  readonly meaning: string;
  readonly fooled_today: number;
}
type CheckKind = "preview" | "try";

interface Suggestions {
  readonly preparing?: boolean;
  readonly missing?: readonly string[];
  readonly note?: string;
  readonly said?: readonly SuggestedLabel[];
  readonly cut?: readonly Operation[];
  readonly programs?: readonly OfferedProgram[];
}

/* A whole response that a machine proposes. */
interface Proposal {
  readonly id: string;
  readonly data: ResponseData;
  readonly words: readonly string[];
  readonly why?: string;
  readonly verdict?: string;
  state: "" | "took" | "rejected";
  error?: string;
}

/* An example of earlier work on a task type. */
interface WorkedExample {
  readonly kind: string;
  readonly question: string;
  readonly words: readonly string[];
  readonly reason: string;
  readonly is_own: boolean;
}

/* What a person did since their last break. */
interface WorkSession {
  readonly items: number;
  readonly per_hour: number | null;
  readonly earned: string;
  readonly checks: Checks | null;
  readonly day: WorkDay | null;
  readonly minutes: number;
  readonly minutes_submitted: number;
  readonly minutes_skipped: number;
  readonly minutes_returned: number;
}
interface Checks {
  readonly right: number;
  readonly judged: number;
}
interface WorkDay {
  readonly key: string;
  readonly is_near: boolean;
  readonly items_left: number | null;
  readonly minutes_left: number | null;
}

/* A file that is sent in slices: its id, and the bytes that arrived. */
interface UploadState {
  readonly id: string;
  received: number;
  slice: number;
}

/* An item that a person looks back on. */
interface PastItem {
  readonly id: string;
  readonly question: string;
  readonly summary: string;
  readonly unsure: boolean;
  readonly annotation: string;
  readonly can_change: boolean;
  readonly words: readonly string[];
  readonly note: string;
}

/* A program that gives the answer, and what a page says of it. */
interface OfferedProgram {
  readonly program: Program;
  readonly words: string;
  readonly cells?: readonly Pair[];
}
type Program = { readonly op: string } & { readonly [part: string]: unknown };
/* An answer for the edited table, with the programs that give it. */
interface Alternative {
  readonly answers: readonly string[];
  readonly programs: readonly OfferedProgram[];
}
/* What the chosen program gave before the edit and gives now. */
interface ComputedAnswer {
  readonly before: readonly string[];
  readonly computed?: readonly string[] | null;
  readonly problem?: string;
  readonly differs?: boolean;
  readonly alternatives?: readonly Alternative[];
}

/* What suggesters say of a question, with reasons. */
interface SuggestedLabel {
  readonly by: string;
  readonly label: string | null;
  readonly why: string;
}

/* An item to be rated: the original example and its perturbed ones. */
interface ComparedExample {
  readonly question: string;
  readonly answers: readonly string[];
  readonly table: Table;
  readonly operations: readonly Operation[];
}
type Side = "left" | "right";
type ShownPair = { readonly original: ComparedExample } & { readonly [side in Side]?: ComparedExample };

/* Where somebody ranks an answer among the others. */
interface Ranked {
  readonly rank?: { readonly name: string; readonly place: string; readonly share: number };
  readonly claim?: string;
}

/* An item for which a model may be asked. */
type LoopAssignment = Assignment & { readonly loop: ModelLoop };

/* The last answer of a model, what it was about, and how many milliseconds it took. */
interface SeenCheck {
  readonly of: string;
  readonly said: ModelCheck;
  readonly took: number | null;
}

// --- suggestions for the columns of a table ------------------------------------------------------------------------

/* A name for a column. */
interface SuggestedName {
  readonly text: string;
  readonly source: string;
  readonly by?: string;
  readonly why?: string;
}

/* A name as a response has it: of which column, and whose. */
type SuggesterName = readonly [column: string, text: string, source: string];

/* A related table with the columns that it could give; `sent` is a column as JSON. */
interface RelatedTable {
  readonly digest: string;
  readonly title: string;
  readonly rows: number;
  readonly of: number;
  readonly why: string;
  readonly score: number;
  readonly by: readonly [here: string, other: string];
  readonly aligned: readonly (readonly [here: string, other: string])[];
  readonly columns: readonly RelatedColumn[];
}
interface RelatedColumn {
  readonly column: number;
  readonly header: string;
  readonly filled: number;
  readonly sent: string;
}
interface SentColumn {
  readonly header: string;
  readonly after: string | null;
  readonly cells: readonly string[];
  readonly digest: string;
  readonly column: number;
  readonly title: string;
}
/* A column that was added: its id, and where it comes from. */
type ColumnOrigin = readonly [id: string, digest: string, column: number, title: string];

/* What the table tells of a column: how others imply it, and whether the answer is in it. */
interface ImpliedColumn {
  readonly evidence?: readonly ColumnEvidence[];
  readonly answer?: boolean;
  readonly read?: boolean;
}
interface ColumnEvidence {
  readonly kind: string;
  readonly words: string;
  readonly sources: readonly string[];
  readonly tells: boolean;
  readonly holds: boolean;
  readonly short: boolean;
}

/* A way to split a column, and what it gives. */
interface SplitWay {
  readonly by: string;
  readonly text?: string;
  readonly at?: string;
}
interface SplitProposal {
  readonly by: SplitWay;
  readonly names: readonly string[];
  readonly words: string;
  readonly splits: number;
  readonly of: number;
  readonly example_of: string;
  readonly example: readonly string[];
}
/* A split in the making. */
interface SplitWork {
  readonly column: string;
  readonly name: string;
  readonly cells: readonly string[];
  way: SplitWay;
  names: string[];
  given: boolean;
  rows: string[][];
  odd: ReadonlySet<number>;
  readonly faults: Map<number, string>;
}
interface SplitTool {
  readonly legend: HTMLLegendElement;
  readonly how: HTMLSelectElement;
  readonly text: HTMLInputElement;
  readonly at: HTMLSelectElement;
  readonly number: HTMLInputElement;
  readonly status: HTMLParagraphElement;
  readonly names: HTMLDivElement;
  readonly rows: HTMLOListElement;
  readonly all: HTMLInputElement;
  readonly more: HTMLButtonElement;
}
type RelatedChoice = RelatedColumn & { readonly digest: string };
interface SplitChoice {
  readonly way: SplitWay;
  readonly names: readonly string[];
}

// --- lists of columns (columns.js) ---------------------------------------------------------------------------------

type MaskedLine = ColumnLine & { readonly removed: boolean; readonly stands: boolean };
