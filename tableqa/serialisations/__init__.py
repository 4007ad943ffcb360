"""Tables as text, the way the papers put them into prompts, and back.

    SERIALISATIONS["markdown"].dumps(table) -> str          SERIALISATIONS["markdown"].loads(text) -> Table

Every form is here twice where the papers' own loses something: `json_torr` is what ToRR's program writes, `json` is
ours, from which the table can be read back for any cells. docs/reference/serialisations.md lists them all.
"""

from collections.abc import Mapping

from tableqa.serialisations.forms import Serialisation, SerialisationError
from tableqa.serialisations.literals import LITERALS
from tableqa.serialisations.markup import MARKUP
from tableqa.serialisations.published_forms import PUBLISHED
from tableqa.serialisations.separated_values import SEPARATED

SERIALISATIONS: Mapping[str, Serialisation] = {
    form.name: form for form in (*MARKUP, *LITERALS, *SEPARATED, *PUBLISHED)
}
"""Every serialisation by its name."""

TORR: tuple[str, ...] = (
    "html_torr",
    "csv",
    "json_torr",
    "markdown_torr",
    "indexed_row_major_torr",
    "dataframe_torr",
    "concatenation_torr",
)
"""ToRR's seven as published; its CSV loses nothing."""

SUC: tuple[str, ...] = ("nl_sep", "markdown", "json", "xml", "html")
"""SUC's five kinds of format, in forms that lose nothing: a structural task asks for what the text really tells."""

SUC_RELEASED: tuple[str, ...] = ("nl_sep_suc", "json_suc", "xml_suc", "html_suc")
"""SUC's formats as its released code writes them. Its Markdown is left out: it has no names of columns."""

__all__ = ["SERIALISATIONS", "SUC", "SUC_RELEASED", "TORR", "Serialisation", "SerialisationError"]
