// node node_files.mjs COLUMNS.json FILE, in a folder with csv-stringify, papaparse, exceljs and xlsx
import fs from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/`);
const [columnsFile, path] = process.argv.slice(2);
const input = JSON.parse(fs.readFileSync(columnsFile, "utf8"));
const date = (text) => text && new Date(`${text}T00:00:00Z`);
const rowsOf = (columns, convert = (value) => value) =>
  columns[0].values.map((_, at) => columns.map((column) => convert(column.values[at], column, at)));
const [columns] = Object.values(input.sheets);
const names = columns.map((column) => column.name);
const records = rowsOf(columns).map((row) => Object.fromEntries(row.map((value, at) => [names[at], value])));
const mark = input.encoding === "utf-8-sig" ? "\ufeff" : "";
const typed = (value, column, at) =>
  column.type === "date" ? date(value) : column.numbers ? column.numbers[at] : value;

if (input.format === "json") {
  const whole = input.layout === "records in an object" ? { version: 1, items: records } : records;
  fs.writeFileSync(path, JSON.stringify(whole, null, 2));
} else if (input.format === "jsonl") {
  fs.writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
} else if (input.writer === "csv-stringify") {
  const { stringify } = require("csv-stringify/sync");
  const cast = { boolean: (value) => String(value) };
  const options = { header: true, columns: names, delimiter: input.separator, record_delimiter: input.line_end, cast };
  fs.writeFileSync(path, mark + stringify(records, options));
} else if (input.writer === "papaparse") {
  fs.writeFileSync(path, mark + require("papaparse").unparse(records, { delimiter: input.separator, newline: input.line_end }));
} else if (input.writer === "exceljs") {
  const { Workbook } = require("exceljs");
  const book = new Workbook();
  for (const [name, own] of Object.entries(input.sheets)) {
    const sheet = book.addWorksheet(name);
    sheet.addRow(own.map((column) => column.name));
    for (const row of rowsOf(own, typed)) sheet.addRow(row);
    own.forEach((column, at) => column.format && (sheet.getColumn(at + 1).numFmt = column.format));
  }
  await book.xlsx.writeFile(path);
} else {
  const XLSX = require("xlsx");
  const book = XLSX.utils.book_new();
  for (const [name, own] of Object.entries(input.sheets)) {
    const rows = [own.map((column) => column.name), ...rowsOf(own, (value, column) => (column.type === "date" ? date(value) : value))];
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows, { UTC: true }), name);
  }
  XLSX.writeFile(book, path);
}
