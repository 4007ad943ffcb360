"""The badge in the header: answers to one's own questions that one has not read."""

from typing import Any

from django import template

from annotation.quality import annotator_questions

register = template.Library()


@register.simple_tag(takes_context=True)
def unread_answers(context: dict[str, Any]) -> dict[str, Any] | None:
    """How many there are, and the project (slug) of the oldest; None where there is none. No statement in that case."""
    request = context.get("request")
    person = getattr(request, "user", None)
    if person is None or not person.is_authenticated or not person.unread_answers:
        return None
    unread = list(annotator_questions.unread_answers(person).values_list("project__slug", flat=True))
    return {"number": len(unread), "slug": unread[0]} if unread else None
