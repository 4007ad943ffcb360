"""Sentences for people, in their language where a platform lends a translation.

tableqa knows no catalogue and no request. `gettext` and `ngettext` return the English text until a platform lends its own
functions with `set_translator`. A sentence with values has named placeholders, so that a translation may put them in
another order:

    gettext("There is no row {row}.").format(row=row)

Some sentences are stored: with a figure, a decision, a proposal. They are stored as a code and values:

    TOO_FEW = message("habits.too_few", "Not enough data yet: {items} items, {needed} are needed.")
    TOO_FEW.format(items=3, needed=10)

The code identifies the sentence for good; its template may be reworded. A `Message` is the English sentence as a `str`, so
all that write it (a release, the API) write that sentence. `Message.shown` is the sentence in the reader's language,
`Message.to_json` what a database stores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from string import Formatter
from threading import RLock
from typing import Any, Self

_translate: Callable[[str], str] | None = None
_localize: Callable[[str], str] | None = None
_counted: Callable[[str, str, int], str] | None = None
_load: Callable[[], object] | None = None
_language: Callable[[], str] | None = None


def set_translator(
    translate: Callable[[str], str] | None,
    counted: Callable[[str, str, int], str] | None,
    localize: Callable[[str], str] | None = None,
    load: Callable[[], object] | None = None,
    language: Callable[[], str] | None = None,
) -> None:
    """Translate sentences with these functions from now on, in the whole process; None: English again.

    localize: writes a number of a message, such as "1,204" or "93.3 %", in the reader's form. load: imports all modules that
    declare messages; called once, when a stored code is unknown. language: the code of the reader's language.
    """
    global _translate, _counted, _localize, _load, _language
    _translate, _counted, _localize, _load, _language = translate, counted, localize, load, language


class TranslatedText(str):
    """A text with its own translations, such as a label that a project wrote in two languages. As a `str` it is English."""

    by_language: Mapping[str, str]

    def __new__(cls, text: str, by_language: Mapping[str, str]) -> Self:
        self = super().__new__(cls, text)
        self.by_language = dict(by_language)
        return self

    def __getnewargs__(self) -> tuple[str, Mapping[str, str]]:  # type: ignore[override]
        return str(self), self.by_language

    def in_language(self, code: str) -> str:
        """The text in the language with this code ("de", "de-AT"), else in English."""
        return self.by_language.get(code.partition("-")[0]) or str(self)


def gettext(message: str) -> str:
    """The sentence in the reader's language."""
    if isinstance(message, TranslatedText):
        return message.in_language(_language() if _language is not None else "en")
    return message if _translate is None else _translate(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """The sentence for this number of things, in the reader's language."""
    if _counted is None:
        return singular if count == 1 else plural
    return _counted(singular, plural, count)


def gettext_noop(message: str) -> str:
    """The sentence as it is: marked for translators where it is data, and translated where it is shown."""
    return message


# -- stored messages --------------------------------------------------------------------------------

_loading = RLock()
_templates: dict[str, str] = {}
"""The English template of every declared code."""
TEXT, NUMBER, WORD, JOINED, SENTENCE = "text", "number", "word", "joined", "sentence"
"""Codes without a template: verbatim text, a formatted number, a word of the catalogue, parts with a separator, and a
sentence of the catalogue with the values of its placeholders."""
OWN = (TEXT, NUMBER, WORD, JOINED, SENTENCE)


class Message(str):
    """A sentence with its code and values; as a `str` it is the English sentence. Immutable.

    values: by placeholder, each a text, which is never translated, a number, or a `Message`; of `JOINED` also a list.
    """

    code: str
    values: Mapping[str, Any]

    def __new__(cls, code: str, values: Mapping[str, Any] | None = None) -> Self:
        values = dict(values or {})
        self = super().__new__(cls, _english(code, values))
        self.code, self.values = code, values
        return self

    def __getnewargs__(self) -> tuple[str, Mapping[str, Any]]:  # type: ignore[override]
        return self.code, self.values

    def format(self, *args: object, **values: object) -> Message:
        """The message with these values; those that the template has no placeholder for are left out."""
        names = _placeholders(_templates[self.code])
        return Message(self.code, {name: value for name, value in values.items() if name in names})

    def shown(self) -> str:
        """The sentence in the reader's language."""
        if self.code == JOINED:
            return gettext(self.values["by"]).join(map(_shown, self.values["parts"]))
        if self.code == SENTENCE:
            return _fill(gettext(self.values["text"]), self.values["values"], _shown)
        if self.code in OWN:
            text: str = self.values["text"]
            return text if self.code == TEXT else gettext(text) if self.code == WORD else _localised(text)
        template = gettext(_templates.get(self.code, str(self)))
        if not self.values:
            return template
        return template.format(**{name: _shown(value) for name, value in self.values.items()})

    def to_json(self) -> dict[str, Any]:
        """{"code": code, "values": {placeholder: value}}."""
        return {"code": self.code, "values": {name: _to_json(value) for name, value in self.values.items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Message:
        """Read what `to_json` wrote. An unknown code (an uninstalled task type's) gives a sentence that names it."""
        return cls(data["code"], {name: _from_json(value) for name, value in data["values"].items()})


def message(code: str, template: str) -> Message:
    """Declare a message. Call it where modules are imported. Raises ValueError if the code has another template."""
    if code in OWN or _templates.setdefault(code, template) != template:
        raise ValueError(f"The code {code!r} is declared already: {_templates.get(code)!r}.")
    return Message(code)


def template_of(code: str) -> str:
    """The English template of a code; "{text}" for the codes without one."""
    return "{text}" if code in OWN else _templates[code]


def number(text: str) -> Message:
    """A number as English writes it ("1,204", "93.3 %"), which is shown in the reader's form."""
    return Message(NUMBER, {"text": text})


def grouped(value: int) -> Message:
    """A whole number with separators between thousands, in the reader's form."""
    return number(f"{value:,}")


def word(text: str) -> Message:
    """A word of the catalogue, such as a label, which is shown in the reader's language."""
    return Message(WORD, {"text": text})


def sentence(text: str, values: Mapping[str, Any]) -> Message:
    """A sentence of the catalogue that has no code of its own, such as a refusal, with values for its placeholders.

    It is shown in the reader's language for as long as the catalogue has it, afterwards in English.
    """
    storable = {
        name: value if isinstance(value, int | float | Message) else str(value)
        for name, value in values.items()
    }
    return Message(SENTENCE, {"text": text, "values": storable})


def phrase(text: str, /, **values: object) -> Message:
    """`sentence` with a literal, which `./run manage messages` collects: what readers say of a fault, for example."""
    return sentence(text, values)


def reason_of(error: BaseException) -> str:
    """What an exception says: its message where it has one, to be shown in the reader's language, else its text."""
    for reason in (getattr(error, "message", None), *error.args[:1]):
        if isinstance(reason, Message):
            return reason
    return str(error)


def with_texts(text: str, change: Callable[[str], str]) -> str:
    """A text, or the texts that are values of a message, changed by a function."""
    if not isinstance(text, Message):
        return change(text)
    if text.code in (NUMBER, WORD):
        return text
    if text.code == SENTENCE:
        return sentence(text.values["text"], _changed(text.values["values"], change))
    if text.code == JOINED:
        parts = [with_texts(part, change) for part in text.values["parts"]]
        return Message(JOINED, {**text.values, "parts": parts})
    return Message(text.code, _changed(text.values, change))


def _changed(values: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    return {
        name: with_texts(value, change) if isinstance(value, str) else value for name, value in values.items()
    }


def joined(parts: Iterable[str], by: str = " ") -> str:
    """The parts that are not empty, each once, with a separator between them; a single one is returned as it is."""
    flat: dict[str, None] = {}
    for part in parts:
        nested = isinstance(part, Message) and part.code == JOINED and part.values["by"] == by
        flat.update(dict.fromkeys(part.values["parts"] if nested and isinstance(part, Message) else [part]))
    flat.pop("", None)
    if len(flat) < 2:
        return next(iter(flat), "")
    return Message(JOINED, {"parts": list(flat), "by": by})


def translate_stored(text: str) -> str:
    """A message, or a word of the catalogue, in the reader's language; other texts as they are."""
    if isinstance(text, Message):
        return text.shown()
    return gettext(text) if text.strip() and "\r" not in text else text  # gettext would change line ends


def is_message(data: object) -> bool:
    """Whether JSON is that of a message."""
    return (
        isinstance(data, dict)
        and len(data) == 2
        and isinstance(data.get("code"), str)
        and isinstance(data.get("values"), dict)
    )


def pack(text: str) -> str:
    """A text or message as a column of text stores it: messages as JSON, other texts as they are. See `unpack`."""
    if not isinstance(text, Message):
        if not text.startswith(_MARK):
            return str(text)
        text = Message(TEXT, {"text": str(text)})  # a text that looks like a message stays a text
    return json.dumps(text.to_json(), ensure_ascii=False)


def unpack(stored: str) -> str:
    """The text or message of which `pack` made this."""
    if not stored.startswith(_MARK):
        return stored
    try:
        data = json.loads(stored)
    except (ValueError, RecursionError):  # a text that only begins like a message
        return stored
    if not is_message(data):
        return stored
    try:
        return str(data["values"]["text"]) if data["code"] == TEXT else Message.from_json(data)
    # A person's text in the form of a message, without its values.
    except (LookupError, TypeError, ValueError):
        return stored


_MARK = '{"code": "'


def pack_all(data: Any) -> Any:
    """JSON data with its messages, also those that are keys of objects, as JSON."""
    if isinstance(data, Message):
        return data.to_json()
    if isinstance(data, str | int):
        return data
    if isinstance(data, Mapping):
        return {pack(key) if isinstance(key, str) else key: pack_all(value) for key, value in data.items()}
    return [pack_all(value) for value in data] if isinstance(data, list | tuple) else data


def unpack_object(data: dict[str, Any]) -> Any:
    """The value of a JSON object of `pack_all`: a `Message`, or itself. The `object_hook` of a decoder."""
    if is_message(data):
        try:
            return Message.from_json(data)
        except (LookupError, TypeError, ValueError):  # other data in the form of a message
            return data
    if any(key.startswith(_MARK) for key in data):
        return {unpack(key): value for key, value in data.items()}
    return data


def _english(code: str, values: Mapping[str, Any]) -> str:
    if code == JOINED:
        return str(values["by"]).join(values["parts"])
    if code == SENTENCE:
        return _fill(values["text"], values["values"], str)
    if code in OWN:
        return str(values["text"])
    if code not in _templates:
        _load_all()
    template = _templates.get(code)
    if template is None:
        return " ".join([code, *map(str, values.values())])
    return template.format(**values) if values else template


def _fill(template: str, values: Mapping[str, Any], write: Callable[[Any], str]) -> str:
    if not values:
        return template
    return template.format(**{name: write(value) for name, value in values.items()})


def _load_all() -> None:
    global _load
    with _loading:  # another thread waits until every code is known
        load, _load = _load, None
        if load is not None:
            load()


@cache
def _placeholders(template: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)


def _shown(value: object) -> str:
    if isinstance(value, Message):
        return value.shown()
    return _localised(str(value)) if isinstance(value, int | float) else str(value)


def _localised(text: str) -> str:
    return text if _localize is None else _localize(text)


def _to_json(value: object) -> Any:
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: _to_json(inner) for name, inner in value.items()}
    return [_to_json(part) for part in value] if isinstance(value, list) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(part) for part in value]
    if is_message(value):
        return Message.from_json(value)
    return {name: _from_json(inner) for name, inner in value.items()} if isinstance(value, dict) else value
