"""Names for the new columns of a split: from the header, from the form of the cells, and from what the parts hold.

The names are English, like the forms that they come from. A person can overwrite each of them. What nothing tells is
called by the header and a number, which says that the name is still missing.
"""

import re
from collections.abc import Callable, Sequence

from tableqa.perturbations.splitting.cuts import ColumnSplit
from tableqa.perturbations.splitting.rules import Delimiter, Template

HEADER = "\0"
"""In place of a name: the part is what the header says."""

_LEAST_SHARE = 0.8
"""The share of the filled parts that must be of one kind."""


def _word_set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_PEOPLE = _word_set(
    "name player players driver rider athlete winner champion opponent artist author director writer coach "
    "manager candidate member actor actress president judge captain jockey swimmer wrestler singer skip "
    "starter incumbent"
)
_PLACES = _word_set(
    "location venue city town place hometown birthplace site headquarters origin residence host home school "
    "destination address"
)
_SCORES = _word_set("score result scoreline")
_RECORDS = _word_set("record w-l w–l w-l-t w–l–t win-loss won-lost")
_COUNTRIES = _word_set(
    "afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain "
    "bangladesh barbados belarus belgium belize benin bhutan bolivia botswana brazil brunei bulgaria burundi "
    "cambodia cameroon canada chad chile china colombia congo croatia cuba cyprus denmark djibouti dominica "
    "ecuador egypt england eritrea estonia ethiopia fiji finland france gabon gambia georgia germany ghana "
    "greece grenada guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq ireland "
    "israel italy jamaica japan jordan kazakhstan kenya kuwait laos latvia lebanon lesotho liberia libya "
    "lithuania luxembourg madagascar malawi malaysia mali malta mauritius mexico moldova monaco mongolia "
    "montenegro morocco mozambique myanmar namibia nepal netherlands nicaragua niger nigeria norway oman "
    "pakistan panama paraguay peru philippines poland portugal qatar romania russia rwanda samoa scotland "
    "senegal serbia seychelles singapore slovakia slovenia somalia spain sudan suriname swaziland sweden "
    "switzerland syria taiwan tanzania thailand togo tonga tunisia turkey uganda uk ukraine uruguay us usa "
    "uzbekistan venezuela vietnam wales yemen yugoslavia zambia zimbabwe"
) | {
    "united states", "united kingdom", "great britain", "south korea", "north korea", "south africa", "new zealand",
    "czech republic", "saudi arabia", "costa rica", "el salvador", "puerto rico", "sri lanka", "hong kong", "soviet union",
    "east germany", "west germany", "northern ireland", "ivory coast", "dominican republic", "united arab emirates",
    "trinidad and tobago", "bosnia and herzegovina",
}  # fmt: skip
_STATES = _word_set(
    "alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois "
    "indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi "
    "missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia "
    "washington wisconsin wyoming ontario quebec alberta manitoba saskatchewan"
) | {
    "new hampshire", "new jersey", "new mexico", "new york", "north carolina", "north dakota", "rhode island",
    "south carolina", "south dakota", "west virginia", "british columbia", "nova scotia", "new brunswick",
}  # fmt: skip
_POSTAL = _word_set(
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH "
    "OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC ON QC BC AB MB SK NS NB"
)

_MONTH = re.compile(r"(?i:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?")
_MONTH_DAY = re.compile(rf"(?:{_MONTH.pattern} \d{{1,2}}|\d{{1,2}}\.? {_MONTH.pattern})")
_WEEKDAY = re.compile(r"(?i:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?i:day)?\.?")
_DATE = re.compile(rf"\d{{4}}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{{2,4}}|{_MONTH_DAY.pattern},? \d{{4}}")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[apAP]\.?[mM]\.?)?(?: [A-Z]{2,4})?")
_PERCENT = re.compile(r"[-+−]?\d[\d.,]* ?%")
_CURRENCY = re.compile(r"[A-Z]{0,3}[$€£¥]")
_BETWEEN_NAMES = re.compile(r" ?[/,&–-] ?| and ")
_BETWEEN_WORDS = re.compile(r" ?[/,&] ?| [–-] | and ")
"""Between the names of two columns in one header; between words a dash without blanks is part of a word."""

_KINDS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("Country", lambda text: text.lower().removeprefix("the ") in _COUNTRIES),
    ("State", lambda text: text.lower() in _STATES or text.rstrip(".") in _POSTAL),
    ("Year", _YEAR.fullmatch),
    ("Date", _DATE.fullmatch),
    ("Date", _MONTH_DAY.fullmatch),
    ("Month", _MONTH.fullmatch),
    ("Weekday", _WEEKDAY.fullmatch),
    ("Time", _TIME.fullmatch),
    ("Percent", _PERCENT.fullmatch),
    ("Currency", _CURRENCY.fullmatch),
)
"""What a part may hold, the first that fits; a name and whether a text is one."""


def part_names(
    splitting: ColumnSplit,
    header: str,
    form_names: Sequence[str] = (),
    guess: Callable[[Sequence[str]], str | None] | None = None,
) -> tuple[str, ...]:
    """A name for each part of a split, all different.

    form_names  the names that the form of the cells gives: "" for a part without one, `HEADER` for what the header says
    guess  names a column by its cells, as the project's tables call such columns; None where it cannot tell
    """
    stem = header_stem(header)
    columns = [[text for text in column if text.strip()] for column in splitting.columns()]
    kinds = [_kind(cells) for cells in columns]
    names = list(
        _of_header(header, splitting, form_names) or _of_words(header, splitting, columns, kinds, form_names)
    )
    names = names or [""] * splitting.number
    for index, cells in enumerate(columns):
        if not names[index]:
            name = (guess(cells) if guess and cells else None) or kinds[index]
            names[index] = "" if name in names else name
    _name_places(header, kinds, names)
    chosen: list[str] = []
    for index, name in enumerate(names):
        name = stem if name == HEADER else name
        chosen.append(f"{stem} {index + 1}" if name in ("", *chosen) else name)
    unnamed = [index for index, name in enumerate(chosen) if name == f"{stem} {index + 1}"]
    if len(unnamed) == 1 and stem not in chosen:
        chosen[unnamed[0]] = stem  # "Location" and "Country"
    return tuple(chosen)


def header_stem(header: str) -> str:
    """A header without its colon; "Part" for an empty one."""
    return header.strip().rstrip(":").rstrip() or "Part"


def _kind(cells: Sequence[str]) -> str:
    """The name of the kind that most of the cells are of, else ""."""
    for name, is_one in _KINDS:
        if cells and sum(bool(is_one(text.strip())) for text in cells) >= _LEAST_SHARE * len(cells):
            return name
    return ""


def _of_header(header: str, splitting: ColumnSplit, form_names: Sequence[str]) -> tuple[str, ...]:
    """The parts of the header, where it is put together as the cells are: "City, State", "Player (Country)"."""
    way = splitting.way
    parts: Sequence[str] = ()
    if tuple(form_names) == (HEADER, ""):
        parts = Template("{1} ({2})").parts(header) or ()
    elif isinstance(way, Delimiter) and way.text != " ":
        parts = way.parts(header) or ()
    if len(parts) != splitting.number:
        between = _BETWEEN_NAMES if form_names and not any(form_names) else _BETWEEN_WORDS
        parts = [part.strip() for part in between.split(header.strip())]
    fine = len(parts) == splitting.number and all(len(part) > 1 for part in parts)
    return tuple(parts) if fine and len(set(parts)) == len(parts) else ()


def _of_words(
    header: str,
    splitting: ColumnSplit,
    columns: Sequence[Sequence[str]],
    kinds: Sequence[str],
    form_names: Sequence[str],
) -> tuple[str, ...]:
    """The names that the form gives, or that a word of the header implies for parts like these."""
    header_words = set(re.findall(r"[^\W\d_]+(?:[-–][^\W\d_]+)*", header.lower()))
    size = splitting.number
    text = splitting.way.text if isinstance(splitting.way, Delimiter) else ""
    if size == 2 and not any(kinds) and header_words & _PEOPLE and text in (" ", ",", ", "):
        return ("First name", "Last name") if text == " " else ("Last name", "First name")
    if all(cells and all(cell.strip().isdecimal() for cell in cells) for cells in columns):
        if header_words & _RECORDS and size in (2, 3):
            return ("Wins", "Losses", "Ties")[:size]
        if header_words & _SCORES and size == 2:
            return ("First score", "Second score")
    return tuple(form_names) if len(form_names) == size else ()


def _name_places(header: str, kinds: Sequence[str], names: list[str]) -> None:
    """Name the parts before a country or state: a city, and before that a venue."""
    if (
        not kinds
        or kinds[-1] not in ("Country", "State")
        or not set(re.findall(r"[^\W\d_]+", header.lower())) & _PLACES
    ):
        return
    before = {2: ["City"], 3: ["Venue", "City"]}.get(len(names), [])
    if len(kinds) == 3 and kinds[1] == "State":
        before = ["City", "State"]
    for index, name in enumerate(before):
        if not names[index] and name not in names:
            names[index] = name
