"""Pages for what comes while somebody is at work: proposals, suggestions, verdicts and further items."""

from __future__ import annotations

from tests.modules.pages.page_at_work import answer_check, header_synonym, new_answer
from tests.modules.pages.proposals import filled, offered, proposals

__all__ = ["answer_check", "filled", "header_synonym", "new_answer", "offered", "proposals"]
