from __future__ import annotations

import itertools
import json
from argparse import ArgumentParser
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from predictor.chat import ChatError
from predictor.configuration import chat_model
from predictor.usage import Tally
from tableqa.prompt_files import PromptError, read_predictions, read_prompts

AT_ONCE = 4
"""Prompts that the model has at the same time."""


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

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            tally = Tally()
            model = replace(chat_model(settings.PREDICTORS, options["predictor"]), meter=tally)
            out: Path = options["out"]
            done = read_predictions(out) if out.exists() else {}
            wanted = (prompt for prompt in read_prompts(options["prompts"]) if prompt["id"] not in done)
            asked = 0

            def ask(prompt: Mapping[str, Any]) -> dict[str, str]:
                messages = prompt.get("messages") or [{"role": "user", "content": prompt["prompt"]}]
                answered = {"id": prompt["id"], "model": model.model}
                try:
                    (reply,) = model.ask(messages, seed=0, most_tokens=options["most_tokens"])
                except ChatError as error:
                    if not error.is_about_example:
                        raise
                    return {**answered, "prediction": "", "unread": str(error), "state": error.kind}
                return {**answered, "prediction": reply}

            out.parent.mkdir(parents=True, exist_ok=True)
            with out.open("a", encoding="utf-8") as file, ThreadPoolExecutor(AT_ONCE) as threads:
                while chunk := list(itertools.islice(wanted, 4 * AT_ONCE)):
                    for record in threads.map(ask, chunk):
                        file.write(json.dumps(record, ensure_ascii=False) + "\n")
                        asked += 1
                    file.flush()
        except LookupError as error:
            raise CommandError(str(error.args[0]), returncode=2) from None
        except (ChatError, PromptError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{asked} prompts answered by {model.model}; {len(done)} were answered before.")
        self.stderr.write(f"{model.model}: {tally.in_words()}")
