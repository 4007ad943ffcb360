"""What the platform refuses, each with a code that programs read and a sentence that people do."""

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from django.utils.translation import gettext

from tableqa.core.foreign_values import printable, unstorable
from tableqa.core.translation import sentence, translate_stored

STATUS: Final[dict[str, int]] = {
    "invalid_response": 422,
    "invalid_request": 422,
    "unmet_conditions": 422,
    "stale_draft": 409,
    "draft_too_large": 413,
    "place_taken": 409,
    "already_submitted": 409,
    "not_submitted": 409,
    "decided": 409,
    "responses_changed": 409,
    "batch_closed": 409,
    "author_gone": 409,
    "batch_not_open": 409,
    "batch_paused": 409,
    "name_taken": 409,
    "nothing_to_release": 409,
    "simulated_people": 409,
    "run_unfinished": 409,
    "still_writing": 409,
    "import_failed": 422,
    "upload_gap": 409,
    "invitation_used": 410,
    "invitation_expired": 410,
    "crowd_closed": 410,
    "crowd_taken": 409,
    "crowd_not_admitted": 403,
    "still_involved": 409,
    "no_member": 409,
    "predictor_failed": 503,
    "contract_broken": 409,
    "consent_needed": 409,
    "guidelines_unread": 409,
    "practice_needed": 409,
    "not_qualified": 409,
    "cap_reached": 409,
    "too_many_attempts": 429,
    "too_many_requests": 429,
    "not_authenticated": 401,
    "ticket_expired": 401,
}


class ActionRefused(Exception):
    """Something that cannot be done, and why. `more` is added to the problem document (RFC 9457).

    detail: the reason in the language of the request. stored: the same for a database, shown in the reader's language.
    """

    stored: str

    def __init__(self, code: str, detail: str, **more: Any) -> None:
        self.code = code
        self.status = STATUS[code]
        self.detail = self.stored = printable(detail)  # it may quote what was refused
        self.more = more
        super().__init__(self.detail)


def refuse(code: str, text: str, /, *, more: Mapping[str, Any] | None = None, **values: object) -> NoReturn:
    """Raise `ActionRefused` with `text` in the reader's language and `values` in its placeholders.

    text: a literal, which `./run manage messages` collects; or, without values, a sentence that is translated already.
    more: additions to the problem document.
    """
    detail = gettext(text)
    refused = ActionRefused(code, detail.format(**values) if values else detail, **(more or {}))
    if values:
        refused.stored = printable(sentence(text, values))
    raise refused from None


def refuse_as(code: str, reason: str, /, *, more: Mapping[str, Any] | None = None) -> NoReturn:
    """Raise `ActionRefused` with a message (`tableqa.core.translation.Message`), which is shown in the reader's language."""
    refused = ActionRefused(code, translate_stored(reason), **(more or {}))
    refused.stored = printable(reason)
    raise refused from None


def require_storable(*values: Any) -> None:
    """Refuse texts, and JSON values with parts, that `tableqa.core.foreign_values` refuses: at the door of every journey."""
    if reason := unstorable(values):
        refuse(
            "invalid_request",
            "The text contains {reason}, which cannot be saved. Remove it.",
            reason=reason,
        )
