"""Scripts and style sheets of pages: the files that each loads, and the bundle that `collectstatic` makes of them."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from django import template
from django.contrib.staticfiles.storage import staticfiles_storage
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from tasks.contract import TaskType

register = template.Library()

CLASSIC = "askew/laid-out.js"
"""A script that is no module: its bundle has its path. `browser.js` stays as it is, for browsers that are too old."""
PAGES = ("pages", "explorer", "comparison", "adjudicate", "own-response", "proposals")
"""Scripts that pages load, by module."""
MODES = {
    "read": "",
    "edit": "askew/editing.js",
    "structure": "askew/structuring.js",
    "select": "askew/selecting.js",
}
OPTIONAL = ("prediction", "proposals", "comparison")
"""Style sheets of parts that only some annotation pages have."""


@register.simple_tag
def scripts(page: "str | TaskType", loop: object = None) -> SafeString:
    """Elements that load a script of PAGES, or those of the annotation page of a task type; `loop` is its model, if any."""
    return _elements('<script type="module" src="{}"></script>', _modules(page, bool(loop)))


@register.simple_tag
def sheets(task: "TaskType", *has: object) -> SafeString:
    """Elements that load the style sheets of an annotation page; `has` says of each of OPTIONAL whether it is needed."""
    return _elements('<link rel="stylesheet" href="{}">', _sheets(task.sheet, has))


def _elements(element: str, paths: list[str]) -> SafeString:
    name = _bundle(paths)
    if name in getattr(staticfiles_storage, "hashed_files", ()):
        paths = [name]
    return format_html_join("\n", element, ((static(path),) for path in paths))


def bundles() -> dict[str, list[str]]:
    """The modules of all bundles, by the path of the bundle; paths are below the folder of static files."""
    from tasks.contract import task_types

    pages: list[str | TaskType] = [*PAGES, *task_types().values()]
    looped = [_modules(task, True) for task in task_types().values() if task.predicts]
    further = ("", "askew/own-fields.js")
    defined = [
        _annotation(mode, script) for mode in ("read", "select") for script in further
    ]  # own task types
    shipped = {_bundle(modules): modules for modules in (*map(_modules, pages), *looped, *defined)}
    return {**shipped, CLASSIC: [CLASSIC]}


def sheet_bundles() -> dict[str, list[str]]:
    """The style sheets of all annotation pages, by the path of the one that a site ships for them."""
    from tasks.contract import task_types

    forms = {"askew/own-fields.css", *(task.sheet for task in task_types().values())}
    pages = (_sheets(form, has) for form in forms for has in product((False, True), repeat=len(OPTIONAL)))
    return {_bundle(paths): paths for paths in pages}


def _sheets(form: str, has: Sequence[object]) -> list[str]:
    optional = (f"askew/{name}.css" for name, needed in zip(OPTIONAL, has, strict=True) if needed)
    return ["askew/askew.css", *filter(None, [form]), *optional]


def _modules(page: "str | TaskType", loop: bool = False) -> list[str]:
    if isinstance(page, str):
        return [f"askew/{page}.js"]
    edits = "askew/edits.js" if page.operations_field else ""
    return _annotation(page.mode, edits, page.script, "askew/prediction.js" if loop else "")


def _annotation(mode: str, *further: str) -> list[str]:
    return ["askew/pages.js", "askew/grid.js", *filter(None, (MODES[mode], *further)), "askew/annotate.js"]


def _bundle(paths: list[str]) -> str:
    names = (path.removeprefix("askew/").rpartition(".")[0].replace("/", "_") for path in paths)
    return f"bundles/{'-'.join(names)}.{paths[0].rpartition('.')[2]}"
