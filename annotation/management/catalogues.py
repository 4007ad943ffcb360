"""Message catalogues: the messages of templates, Python and scripts, and the .po files in locale/ (docs/translating.md).

`./run manage messages` writes the .po files, and `./run check` compares them with what it would write. xgettext is not
needed. Two domains, as in Django: `django` for pages and the server, `djangojs` for scripts.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation.template import templatize

KEYWORDS = {
    **dict.fromkeys(("gettext", "gettext_lazy", "gettext_noop", "phrase", "words_of"), (0,)),
    **dict.fromkeys(("refuse", "message"), (1,)),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (0, 1)),
}
"""Functions, and the positions of the message and its plural among their arguments."""
PYTHON = ("annotation", "config", "tableqa", "tasks")
ASSETS = ("templates", "tasks", "static/askew")
SCRIPT = re.compile(
    r"""\bt\((?P<message>"(?:[^"\\]|\\.)*")|\bcounted\(.*?,\s*(?P<singular>"[^"]*")\s*,\s*(?P<plural>"[^"]*")\)"""
)
COUNT = re.compile(r"""\bcount\((?:[^()]|\([^()]*\))*,\s*"(?P<noun>[a-z ]+)"\)""")
"""`count(number, "cell")` of words.js shows "1 cell" or "2 cells"."""
LITERAL = r"""u?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
IN_TEMPLATE = re.compile(rf"(?<![\w.])(n?gettext|_)\({LITERAL}(?:\s*,\s*{LITERAL})?", re.DOTALL)

Message = tuple[str, str]
"""A message and its plural, "" without one."""
Messages = dict[Message, set[str]]
"""Messages with the files that contain them; line numbers would change too often."""


def extract(root: Path) -> dict[str, Messages]:
    """All messages below the root of the repository, by domain."""
    modules = [
        path
        for folder in PYTHON
        for path in (root / folder).rglob("*.py")
        if "tests" not in path.relative_to(root).parts and not path.name.startswith(("test_", "tests"))
    ]
    templates, scripts = (
        [path for folder in ASSETS for path in (root / folder).rglob(pattern)]
        for pattern in ("*.html", "*.js")
    )
    return {
        "django": _collect(root, {in_python: modules, in_template: templates}),
        "djangojs": _collect(root, {in_script: scripts}),
    }


def _collect(root: Path, sources: dict[Callable[[str], Iterator[Message]], list[Path]]) -> Messages:
    """The messages of files, by extractor. A message with a plural in one file has it in all."""
    messages: Messages = {}
    for messages_in, paths in sources.items():
        for path in paths:
            for message in messages_in(path.read_text("utf-8")):
                messages.setdefault(message, set()).add(path.relative_to(root).as_posix())
    for singular, plural in list(messages):
        if plural:
            messages[singular, plural] |= messages.pop((singular, ""), set())
    return messages


def in_python(source: str) -> Iterator[Message]:
    """The messages of a module: literal arguments of the functions of gettext, `refuse`, `message` and others."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        positions = KEYWORDS.get(name, ())
        texts = [
            argument.value
            for position, argument in enumerate(node.args)
            if position in positions
            and isinstance(argument, ast.Constant)
            and isinstance(argument.value, str)
        ]
        if name == "words_of" and texts:
            yield from ((" ".join(phrase.split()), "") for phrase in texts[0].split(";"))
        elif texts and len(texts) == len(positions):
            yield texts[0], "".join(texts[1:])


def in_template(source: str) -> Iterator[Message]:
    """The messages of a template, as makemessages of Django reads them."""
    for function, first, second in IN_TEMPLATE.findall(templatize(source)):
        yield ast.literal_eval(first), ast.literal_eval(second) if function == "ngettext" and second else ""


def in_script(source: str) -> Iterator[Message]:
    """The messages of a module: t("..."), t`...${}...`, counted(n, "...", "..."), count(n, "noun")."""
    for match in SCRIPT.finditer(source):
        yield (
            ast.literal_eval(match["message"] or match["singular"]),
            ast.literal_eval(match["plural"] or '""'),
        )
    for match in COUNT.finditer(source):
        yield f"{{0}} {match['noun']}", f"{{0}} {match['noun']}s"
    for match in re.finditer(r"(?<![\w$`])t`", source):
        yield _template_literal(source, match.end()), ""


def _template_literal(source: str, position: int) -> str:
    """The message of a template literal whose content begins at a position: {0}, {1} for its expressions."""
    message, index = "", 0
    while source[position] != "`":
        if source[position] == "\\":
            escaped = source[position : position + 2]
            message += "`" if escaped == "\\`" else ast.literal_eval(f'"{escaped}"')
            position += 2
        elif source.startswith("${", position):
            position = _end_of_expression(source, position + 2)
            message += f"{{{index}}}"
            index += 1
        else:
            message += source[position]
            position += 1
    return message


def _end_of_expression(source: str, position: int) -> int:
    """The position after the closing brace of the expression that begins at a position."""
    depth = 0
    while source[position] != "}" or depth:
        character = source[position]
        if character in "\"'":
            position = source.index(character, position + 1)
        elif character == "`":
            position += 1
            while source[position] != "`":
                inside = source.startswith("${", position)
                position = _end_of_expression(source, position + 2) if inside else position + 1
        depth += (character == "{") - (character == "}")
        position += 1
    return position + 1


# -- .po files ------------------------------------------------------------------------------------


def po_path(root: Path, language: str, domain: str) -> Path:
    """The file with a language's translations of a domain."""
    return root / "locale" / language / "LC_MESSAGES" / f"{domain}.po"


def languages() -> list[str]:
    """The languages of translations: all but the language of the messages."""
    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def catalogue(path: Path, language: str, messages: Messages) -> Any:
    """The content of a .po file as a `polib.POFile`: exactly these messages, sorted, one line for each text without breaks.

    Keeps the translations, comments and plural rule of the present file. New messages have an empty translation.
    """
    import polib

    file = polib.pofile(str(path)) if path.exists() else polib.POFile()
    present = {(entry.msgid, entry.msgid_plural): entry for entry in file}
    result = polib.POFile(wrapwidth=0)
    result.metadata = {
        "Project-Id-Version": "Askew",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": file.metadata.get("Plural-Forms", "nplurals=2; plural=(n != 1);"),
    }
    for message in sorted(messages):
        singular, plural = message
        before = present.get(message) or polib.POEntry(msgstr_plural={0: "", 1: ""} if plural else {})
        entry = polib.POEntry(
            msgid=singular,
            msgid_plural=plural,
            msgstr=before.msgstr,
            msgstr_plural=before.msgstr_plural,
            flags=before.flags,
            tcomment=before.tcomment,
            occurrences=[(name, "") for name in sorted(messages[message])],
        )
        result.append(entry)
    return result
