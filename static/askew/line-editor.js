/* The text field of a line in a list of columns (columns.js). */

import { element } from "./elements.js";
import { leaves } from "./focus.js";
import { t } from "./language.js";

export class LineEditor {
  /** @type {{field: HTMLInputElement, line: ColumnLine, choice: ColumnChoice | null} | null} */
  opened = null; // {field, line, choice}

  /** @param {import("./columns.js").ColumnList} list */
  constructor(list) {
    this.list = list;
  }

  /** @param {ColumnLine} line @param {string | null} text @param {ColumnChoice | null} choice */
  edit(line, text, choice = null) {
    if (this.opened || text === null) return;
    this.list.go(line.id);
    const head = this.list.lineList.querySelector(".open > .head");
    const field = element("input", { type: "text", value: text, autocomplete: "off", spellcheck: true, dir: "auto", maxLength: 2000 });
    field.ariaLabel = t`New name for ${line.name || t("an unnamed column")}`;
    this.opened = { field, line, choice };
    field.addEventListener("keydown", (event) => this.#onEditorKey(event));
    field.addEventListener("blur", (event) => leaves(event) && this.#commit());
    head.append(field);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  /** @param {KeyboardEvent} event */
  #onEditorKey(event) {
    event.stopPropagation();
    if (event.isComposing || event.keyCode === 229) return;
    const step = event.key === "Tab" ? (event.shiftKey ? -1 : 1) : { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter") {
      this.#commit();
      if (event.ctrlKey || event.metaKey) this.list.emit("grid-submit");
    } else if (step) {
      this.#commit();
      this.list.move(step);
      event.preventDefault();
      return;
    } else return;
    event.preventDefault();
    this.list.focus();
  }

  #commit() {
    if (!this.opened) return;
    const { field, line, choice } = this.opened;
    const text = field.value.trim();
    this.close();
    if (text) this.list.keep(line, text, choice);
  }

  close() {
    if (!this.opened) return;
    const { field } = this.opened;
    this.opened = null; // first: taking the field away makes it lose the focus, which would keep the text
    field.remove();
    if (this.list.table) this.list.draw();
  }
}
