"""How responses are read, stored and described: the part of a task type that handles `data`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar

from tableqa.core.foreign_values import unstorable
from tableqa.core.translation import gettext
from tableqa.operations import OperationError, from_dict, from_list
from tasks.contract.items import Item
from tasks.contract.responses import Field, InvalidResponse, Problem, as_tuples, from_lines, response_data


class ResponseMethods(ABC):
    """From a form or an envelope to a frozen `response_type`, and back. Every task type has this part.

    `fields` are the input fields of the form, `response_type` is a frozen dataclass: its fields are stored, shown and
    exported. `parse` is the only validator. A task type that changes its response raises `version` and overrides `upgrade`.
    """

    key: ClassVar[str]
    version: ClassVar[int] = 1
    fields: ClassVar[tuple[Field, ...]]
    response_type: ClassVar[type]

    @abstractmethod
    def parse(self, data: object, item: Item) -> Any:
        """Turn the `data` of an envelope into this kind's frozen Response: the only validator.

        Raises `InvalidResponse` with every problem. What it returns is what is stored, shown and exported.
        """

    @abstractmethod
    def describe(self, response: Any, item: Item) -> list[str]:
        """The response in words, one sentence each: for adjudicators, histories and screen readers."""

    def in_short(self, response: Any, item: Item) -> str:
        """The response in a line, as a list of proposals shows it: by default the first sentence of `describe`."""
        return self.describe(response, item)[0]

    def for_author(self, response: Any, item: Item) -> list[str]:
        """The response in words for the person who gave it: by default `describe`, without what the item hides from them."""
        return self.describe(response, item)

    def label(self, response: Any, item: Item) -> str:
        """The response in a few words, where several are listed in a line: by default the first one of `for_author`."""
        return next(iter(self.for_author(response, item)), "")

    @abstractmethod
    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> object:
        """`data` of a simulated person who is right with probability `accuracy`.

        `truth` is seeded by the item alone, so that simulated people agree about what is right.
        """

    def warnings(self, response: Any, item: Item) -> Sequence[Problem]:
        """What a person should look at again in a response that holds: shown with each draft, it stops no submission."""
        return ()

    def unmet(self, response: Any, item: Item) -> Sequence[Problem]:
        """Conditions that a valid response leaves unmet, each a warning, whether or not the response explains them.

        Such a response is submitted with a reason (`explains`) or after a confirmation, and stored with their codes.
        """
        return ()

    def explains(self, response: Any) -> bool:
        """Whether the response gives a reason for what it leaves unmet."""
        return bool(getattr(response, "reason", ""))

    def upgrade(self, data: Mapping[str, Any], from_version: int) -> Mapping[str, Any]:
        """Read `data` stored by an older version of this kind. A kind that raises `version` overrides it."""
        message = gettext("{key} cannot read responses of version {from_version}; it is at {version}")
        raise ValueError(message.format(key=self.key, from_version=from_version, version=self.version))

    def unfitting_values(self, data: Mapping[str, Any], item: Item) -> Sequence[str]:
        """What the `data` of a draft for an older version holds that the form has no place for, as "name: value"."""
        return ()

    def receive(self, envelope: Mapping[str, Any], item: Item) -> Any:
        """Parse an envelope that a person sends now: as `read`, but of this version only.

        What an older version did not ask for, `upgrade` fills in for what is stored. New answers require it.
        """
        version = envelope.get("version") if isinstance(envelope, Mapping) else None
        if type(version) is int and 1 <= version < self.version:
            message = gettext(
                "The response uses version {version} of this form, but the form is now at version "
                "{version_2}. Reload the page, check what is new and submit again."
            ).format(version=version, version_2=self.version)
            raise InvalidResponse.of("version", "stale_version", message)
        return self.read(envelope, item)

    def read(self, envelope: Mapping[str, Any], item: Item) -> Any:
        """Parse a stored envelope: type, variant, version, base, then `data`; `upgrade` reads older versions."""
        if not isinstance(envelope, Mapping):
            raise InvalidResponse.of("", "bad_envelope", gettext("The response must be a JSON object."))
        problems = []
        if envelope.get("type") != self.key:
            message = gettext("This item takes responses of type {key}.").format(key=self.key)
            problems.append(Problem("type", "wrong_type", message))
        if (envelope.get("variant") or "") != item.variant:
            message = gettext("This item has variant {variant!r}.").format(variant=item.variant)
            problems.append(Problem("variant", "wrong_variant", message))
        if envelope.get("base") != item.base:
            message = gettext("The response belongs to another table than this item shows. Reload the item.")
            problems.append(Problem("base", "stale_base", message))
        version = envelope.get("version")
        if type(version) is not int or not 1 <= version <= self.version:
            message = gettext("Version {version!r} is unknown; this task type is at version {own}.").format(
                version=version, own=self.version
            )
            problems.append(Problem("version", "unknown_version", message))
        if problems:
            raise InvalidResponse(problems)
        data = envelope.get("data")
        if reason := unstorable(data):
            message = gettext("The response contains {reason}, which cannot be stored.").format(reason=reason)
            raise InvalidResponse.of("", "unstorable_text", message)
        if isinstance(version, int) and version != self.version and isinstance(data, Mapping):
            data = self.upgrade(data, version)
        return self.parse(data, item)

    def envelope(self, response: Any, item: Item) -> dict[str, Any]:
        """The stored form of a parsed response (JSON)."""
        return self.unparsed_envelope(response_data(response), item)

    def unparsed_envelope(self, data: Mapping[str, Any], item: Item) -> dict[str, Any]:
        """The form in which `data` of a response is submitted, before any person has parsed it."""
        about = {"type": self.key, "variant": item.variant, "version": self.version, "base": item.base}
        return {**about, "data": data}

    def with_operations(self, data: object) -> Any:
        """The data of a draft with its operations read, for several readers; as it is where they are none."""
        name = self.operations_field
        if name is None or not isinstance(data, Mapping):
            return data
        try:
            return {**data, name: from_list(data.get(name, []))}
        except OperationError:
            return data

    def restore(self, data: Mapping[str, Any]) -> Any:
        """The Response of stored `data` of this version, as it was, without judging it again."""
        parsed = {name: as_tuples(value) for name, value in data.items()}
        if self.operations_field is not None:
            parsed[self.operations_field] = tuple(from_dict(entry) for entry in data[self.operations_field])
        return self.response_type(**parsed)

    def form_data(self, post: Mapping[str, str], draft: Mapping[str, Any]) -> dict[str, Any]:
        """`data` from a plain form post; operations come from the draft, for they are applied one at a time."""
        data: dict[str, Any] = {}
        for spec in self.fields:
            if spec.kind == "operations":
                data[spec.name] = draft.get(spec.name, [])
            elif spec.kind in ("choices", "cells", "numbers"):
                chosen = post.getlist(spec.name) if hasattr(post, "getlist") else post.get(spec.name, [])
                data[spec.name] = (
                    [cell.split("/") for cell in chosen] if spec.kind == "cells" else list(chosen)
                )
            elif spec.kind == "json":
                data[spec.name] = draft.get(spec.name)
            elif spec.kind == "flag":
                data[spec.name] = post.get(spec.name) not in (None, "", "false")
            elif spec.kind == "lines":
                data[spec.name] = from_lines(post.get(spec.name, ""), draft.get(spec.name))
            else:
                data[spec.name] = post.get(spec.name, "")
        return data

    def fill_in(self, data: Mapping[str, Any], item: Item) -> Mapping[str, Any]:
        """`data` of a plain form that is kept, not submitted, with what may be filled in for the person; nothing here."""
        return data

    @property
    def operations_field(self) -> str | None:
        """The name of the field that holds table operations, if the kind has one."""
        return next((spec.name for spec in self.fields if spec.kind == "operations"), None)
