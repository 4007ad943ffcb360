/* Written by `python -m tests.script_types` from the dataclasses of tableqa: change those. */

/* tableqa.operations.edit_types.Part */
interface Part {
  readonly column: string;
  readonly header: string;
  readonly cells: readonly string[];
}

/* tableqa.data.tables.Table */
interface WholeTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly header_rows: readonly (readonly string[])[];
  readonly row_ids: readonly string[];
  readonly column_ids: readonly string[];
  readonly header_id: string;
}

/* tableqa.cells.text_formats.Format */
interface TextFormat {
  readonly kind: "none" | "number" | "date" | "time" | "text";
  readonly mask: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly mark: string;
  readonly decimals: number;
  readonly size: number;
  readonly minus: string;
}

/* tableqa.operations.merged_tables.Line */
interface MergedLine {
  readonly id: string;
  readonly base: number | null;
  readonly places: readonly (number | null)[];
  readonly moved: readonly number[];
}

/* tableqa.operations.merged_tables.Cells */
interface MergedCells {
  readonly texts: readonly string[];
  readonly changes: ReadonlyMap<number, readonly (string | null)[]>;
}

/* tableqa.operations.merged_tables.MergedTable */
interface MergedTable {
  readonly columns: readonly MergedLine[];
  readonly rows: readonly MergedLine[];
  readonly above: readonly MergedCells[];
  readonly header: MergedCells;
  readonly cells: readonly MergedCells[];
}

/* tableqa.perturbations.contracts.Contract */
interface Contract {
  readonly table?: "differs" | "gone" | "any";
  readonly answer?: "changes" | "stays" | "any";
  readonly at_most?: number | null;
  readonly more_with_reason?: boolean;
  readonly allowed?: readonly string[] | null;
  readonly protected?: readonly (readonly [string, string])[];
  readonly cell_format?: "warn" | "require" | "ignore";
}

/* tableqa.perturbations.contracts.Violation */
interface Violation {
  readonly code: string;
  readonly message: string;
  readonly level: "error" | "warning";
}

/* tableqa.operations.edit_types.SetCell */
interface SetCell {
  readonly op: "set_cell";
  readonly row: string;
  readonly column: string;
  readonly at?: readonly [number, number] | null;
  readonly old: string;
  readonly new: string;
}

/* tableqa.operations.edit_types.RemoveRow */
interface RemoveRow {
  readonly op: "remove_row";
  readonly row: string;
  readonly at?: number | null;
  readonly old: readonly string[];
}

/* tableqa.operations.edit_types.InsertRow */
interface InsertRow {
  readonly op: "insert_row";
  readonly row: string;
  readonly after: string | null;
  readonly at?: number | null;
  readonly cells: readonly string[];
}

/* tableqa.operations.edit_types.MoveRow */
interface MoveRow {
  readonly op: "move_row";
  readonly row: string;
  readonly after: string | null;
}

/* tableqa.operations.edit_types.RenameHeader */
interface RenameHeader {
  readonly op: "rename_header";
  readonly column: string;
  readonly at?: number | null;
  readonly old: string;
  readonly new: string;
}

/* tableqa.operations.edit_types.RemoveColumn */
interface RemoveColumn {
  readonly op: "remove_column";
  readonly column: string;
  readonly at?: number | null;
  readonly old: readonly string[];
}

/* tableqa.operations.edit_types.InsertColumn */
interface InsertColumn {
  readonly op: "insert_column";
  readonly column: string;
  readonly after: string | null;
  readonly header: string;
  readonly cells: readonly string[];
  readonly above?: readonly string[];
}

/* tableqa.operations.edit_types.MoveColumn */
interface MoveColumn {
  readonly op: "move_column";
  readonly column: string;
  readonly after: string | null;
}

/* tableqa.operations.edit_types.SplitColumn */
interface SplitColumn {
  readonly op: "split_column";
  readonly column: string;
  readonly into: readonly Part[];
}

/* tableqa.operations.edit_types.Transpose */
interface Transpose {
  readonly op: "transpose";
}

/* tableqa.operations.edit_types.MaskCells */
interface MaskCells {
  readonly op: "mask_cells";
  readonly cells: readonly (readonly [string, string])[];
  readonly with: string;
}

type Operation = SetCell | RemoveRow | InsertRow | MoveRow | RenameHeader | RemoveColumn | InsertColumn | MoveColumn | SplitColumn | Transpose | MaskCells;
