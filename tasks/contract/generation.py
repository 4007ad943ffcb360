"""Task types for which machines propose whole responses."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tableqa.core.translation import gettext
from tasks.contract.items import Context, Item
from tasks.contract.responses import InvalidResponse
from tasks.contract.task_type import TaskType


@dataclass(frozen=True)
class ProposedResponse:
    """A whole response that a machine would give to an item.

    data      what a person would enter: the kind parses it like any person's
    category  which sort of change it is, where the kind tells several apart
    by        what made it, in a word: a rule, "thesaurus", "templates"
    why       for the person who decides, in a sentence; "" where it speaks for itself
    score     higher is better; comparable among the rules' proposals for one item
    """

    data: Mapping[str, Any]
    category: str = ""
    by: str = ""
    why: str = ""
    score: float = 0.0


@dataclass(frozen=True)
class GenerationRequest:
    """One sort of change to request from a language model. (RobuT 5, LETA: its own request for each category)

    key             what the replies are kept under
    what            the request in a sentence or two
    form            what the reply looks like, as JSON with words where values go; `applies` is added
    demonstrations  how many accepted responses of people are shown with it, at most
    """

    key: str
    what: str
    form: str
    demonstrations: int = 8


class ProposingTask(TaskType):
    """Machines propose whole responses, which people accept, edit or reject.

    Use it for a task type whose responses rules or language models can write. `propose` yields responses by rules. For
    language models override `generation_requests` (one for each category), `render` (the item as the model sees it),
    `parse_reply` (reads a reply) and `as_demonstration` (the reply that an accepted response would have been, for
    demonstrations).
    """

    @abstractmethod
    def propose(self, item: Item, context: Context) -> Iterator[ProposedResponse]:
        """Responses that rules would give, in any order. One that does not parse is left out."""

    def generation_requests(self, item: Item) -> Sequence[GenerationRequest]:
        """What a language model is asked for about this item, one request for each; nothing where it is no use."""
        return ()

    def render(self, item: Item) -> str:
        """The item as a language model is shown it."""
        raise NotImplementedError

    def as_demonstration(
        self, response: Any, request: GenerationRequest, item: Item
    ) -> Mapping[str, Any] | None:
        """The reply that would have made this response; None where it is no example of what is wanted."""
        return None

    def parse_reply(
        self, reply: Mapping[str, Any], request: GenerationRequest, item: Item
    ) -> Mapping[str, Any]:
        """`data` of the response of a reply (JSON, without `applies`). Raises `InvalidResponse` where it is none."""
        raise InvalidResponse.of("", "no_form", gettext("This task type does not read model replies."))
