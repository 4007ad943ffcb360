"""The earlier source that an import continues: one of its name, or the one whose rejected records a file holds."""

import re
from pathlib import Path

from annotation.models import Project, Source
from tableqa.readers.interface import Credit
from tableqa.readers.rejections import is_rest

_OF_REJECTED = re.compile(r"-rejected( ?\(\d+\))?\Z")
"""How the download of rejected records is named, and what browsers add to a second one."""
_UNKNOWN = ("", "NOASSERTION")


def source_to_continue(project: Project, name: str, reader: str, path: Path) -> Source | None:
    """The newest source of this name; for a file of rejected records, else the one that they were left out of.

    None where there is none, or where the sources with records left out differ in their credit.
    """
    ready = Source.objects.ready().filter(project=project, reader=reader).order_by("-pk")
    source = ready.filter(name=name).first()
    if source is not None or not path.is_file() or not is_rest(path):
        return source
    source = ready.filter(name=_OF_REJECTED.sub("", name)).first()
    if source is not None:
        return source
    incomplete = list(ready.filter(how__good_only=True))
    credits = {(source.licence, source.citation, source.url) for source in incomplete}
    return incomplete[0] if len(credits) == 1 else None


def inherited_credit(credit: Credit, source: Source) -> Credit:
    """The credit of files with what they do not say themselves from the source that they continue."""
    return Credit(
        source.licence if credit.licence in _UNKNOWN else credit.licence,
        credit.citation or source.citation,
        credit.url or source.url,
    )
