import itertools
import json
from argparse import ArgumentParser
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, CommandError, UsageError
from annotation.management.commands._spending import (
    add_spending_options,
    announce,
    metered,
    tally_of,
    tell_use,
)
from annotation.queue import metering
from annotation.queue.conversations import ConversationResult, TooManyUnusable, results_per_item
from predictor.chat import ChatError, ChatModel
from tableqa.scoring.prompt_files import PromptError, read_predictions, read_prompts

MEASURED = 200
"""Prompts that are measured for an estimate."""


class Command(BaseCommand):
    help = (
        "Send a file of prompts (see `prompts`) to a chat model of PREDICTORS with greedy "
        "decoding, and save its replies. Continues where the file of answers ends. Needs no "
        "database."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("prompts", type=Path, metavar="PROMPTS")
        parser.add_argument("--predictor", required=True, metavar="NAME")
        parser.add_argument("--out", type=Path, required=True, metavar="FILE")
        parser.add_argument("--most-tokens", type=int, default=512, metavar="N")
        add_spending_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        name, out = options["predictor"], options["out"]
        try:
            tally = tally_of(name, options)
            model = metered(name, tally)
            done = read_predictions(out) if out.exists() else {}
            announce(self, name, _estimate(name, options["prompts"], done))
            if options["estimate"]:
                return
            count = self._ask(model, _open(options["prompts"], done), options)
        except LookupError as error:
            raise UsageError(str(error.args[0])) from None
        except (ChatError, PromptError, TooManyUnusable) as error:
            tell_use(self, name, tally)
            raise CommandError(str(error)) from None
        self.stdout.write(f"{count} prompts answered by {model.model}; {len(done)} were answered before.")
        tell_use(self, name, tally)

    @staticmethod
    def _ask(model: ChatModel, prompts: Iterator[Mapping[str, Any]], options: Mapping[str, Any]) -> int:
        def ask(prompt: Mapping[str, Any]) -> ConversationResult[dict[str, str]]:
            answered = {"id": prompt["id"], "model": model.model}
            try:
                (reply,) = model.ask(_messages(prompt), seed=0, most_tokens=options["most_tokens"])
            except ChatError as error:
                if not error.is_about_example:
                    raise
                unread = {"prediction": "", "unread": str(error), "state": error.kind}
                return ConversationResult({**answered, **unread}, str(error))
            return ConversationResult({**answered, "prediction": reply})

        count, out = 0, options["out"]
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("a", encoding="utf-8") as file:
            for record in results_per_item(model, ask, prompts):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                file.flush()
                count += 1
        return count


def _messages(prompt: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
    return prompt.get("messages") or [{"role": "user", "content": prompt["prompt"]}]


def _open(prompts: Path, done: Container[str]) -> Iterator[Mapping[str, Any]]:
    """The prompts without a reply."""
    return (prompt for prompt in read_prompts(prompts) if prompt["id"] not in done)


def _estimate(name: str, prompts: Path, done: Container[str]) -> metering.Estimate:
    """What the prompts without a reply would use, by the lengths of some of them."""
    count = sum(1 for _ in _open(prompts, done))
    measured = itertools.islice(_open(prompts, done), 0, None, max(1, count // MEASURED))
    samples = [_messages(prompt) for prompt in measured]
    return metering.estimate(name, samples, count, project=None, purpose="evaluation")
