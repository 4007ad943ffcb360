"""Lists and objects as Python, NumPy and DuckDB print them, as JSON.

`ast.literal_eval` is not used for data: it joins texts that are adjacent, as NumPy prints those of an array.
"""

import datetime
import json
import re

_SCALAR = (
    r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+"|-?[0-9][\w.+-]*+"""
    r"|(?:None|nan|NaN|NaT|null|True|true|False|false)\b)"
)
_N = "[0-9]{1,6}"
_TOKEN = re.compile(
    rf"(?P<flat>\[\s*+{_SCALAR}(?:\s++{_SCALAR})++\s*+\])|(?P<name>(?:{_SCALAR})(?=\s*:))|(?P<scalar>{_SCALAR})|(?P<rest>['\"][\s\S]*+)"
    rf"|(?:(?:np|numpy)\.(?!array)\w++|Decimal|Timestamp|UUID)\((?P<wrapped>{_SCALAR})\)"
    rf"|datetime\.(?P<moment>(?:date\({_N}(?:, {_N}){{2}}|datetime\({_N}(?:, {_N}){{4,6}}|time\({_N}(?:, {_N}){{1,3}})\))"
    r"|(?P<gap>(?<=[\])])\s++(?=\[|array\(|list\())"
    rf"|(?P<array>(?:(?:np|numpy)\.)?array\((?=\s*\[)|list\((?=\[))|(?P<tuple>\((?!\s*+{_SCALAR}\s*+\)))"
    r"|(?P<end>(?:,\s*dtype=(?:\w+|'[^']*')|,\s*)?\))"
)
_OF_DUCKDB = re.compile(
    r"""'(?:[^'\\]|\\['\\])*+'|(?P<rest>'[\s\S]*+)|(?P<bare>[^\s'"\\,\[\]{}()=:](?:[^'"\\,\[\]{}()=:]|(?<=[0-9]):(?=[0-9]))*+)"""
)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_SCALARS = re.compile(rf"{_SCALAR}|['\"][\s\S]*+")
_WORDS = {"None": "null", "nan": "null", "NaN": "null", "NaT": "null", "True": "true", "False": "false"}
_ESCAPE = re.compile(r"\\(?:([\\'\"nrt])|x([0-9a-f]{2})|u([0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4})|.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def json_of(text: str) -> str:
    """The JSON of the value that a text holds: arrays and tuples are lists, a missing value is null.

    ValueError for an escape that Python does not print. Any other text that is not printed so becomes no JSON.
    """
    ends: list[str] = []  # in JSON, of the round brackets that are open

    def replaced(match: re.Match[str]) -> str:
        kind, token = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "flat":  # texts side by side are several where all are: NumPy prints no commas
            return f"[{','.join(map(_scalar, _SCALARS.findall(token)))}]"
        if kind in ("scalar", "wrapped", "name"):
            return _scalar(token if kind != "name" or token[0] in "'\"" else f"'{token}'")
        if kind == "moment":
            name, *numbers = re.findall(r"\w+", token)
            return json.dumps(str(getattr(datetime, name)(*map(int, numbers))))
        if kind in ("end", "rest"):
            return ends.pop() if ends and kind == "end" else token
        if kind != "gap":
            ends.append("]" if kind == "tuple" else "")
        return {"gap": ",", "tuple": "["}.get(kind, "")

    return _TOKEN.sub(replaced, text)


def json_of_duckdb(text: str) -> str:
    """The JSON of the value that a text holds in which DuckDB puts texts in quotes only where they need them.

    ValueError for a text that DuckDB puts in quotes, and for an array that NumPy shortens.
    """

    def replaced(match: re.Match[str]) -> str:
        bare = match["bare"]
        if match["rest"]:
            return match[0]
        if bare and (bare != bare.strip() or "..." in bare):
            raise ValueError(f"DuckDB prints no {bare}")
        if bare and (bare in ("true", "false") or _NUMBER.fullmatch(bare)):
            return bare
        return "null" if bare == "NULL" else json.dumps(bare or _ESCAPE.sub(_character, match[0][1:-1]))

    return _OF_DUCKDB.sub(replaced, text)


def _scalar(token: str) -> str:
    if token[0] in "'\"":
        return json.dumps(_ESCAPE.sub(_character, token[1:-1]))
    return _WORDS.get(token) or re.sub(r"\.(?![0-9])", ".0", token)


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _ESCAPED.get(match[1], match[1])
    code = match[2] or match[3] or match[4]
    if not code:
        raise ValueError(f"Python prints no {match[0]}")
    return chr(int(code, 16))
