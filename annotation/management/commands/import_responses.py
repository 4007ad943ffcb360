from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.imports import mapping_file, response_import
from annotation.imports.response_preview import Preview
from annotation.management.commands._escaping import CommandError, UsageError
from annotation.management.commands._refusing import RefusingCommand, add_choices
from annotation.study_file import yaml_file
from annotation.study_file.yaml_file import StudyError
from tableqa.readers.rejections import one_sentence
from tableqa.readers.responses import TOOLS


class Command(RefusingCommand):
    help = "Import examples and responses of another annotation tool into a new, closed batch: all, or none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--tool", required=True, choices=sorted(TOOLS))
        parser.add_argument("--map", type=Path, metavar="FILE", help="YAML file with the mapping")
        parser.add_argument(
            "--write-map", type=Path, metavar="FILE", help="write the complete mapping to a new file"
        )
        add_choices(parser, "responses and examples")
        parser.add_argument("--look", action="store_true", help="preview; import nothing")

    def run(self, **options: Any) -> None:
        path, now = options["path"], timezone.now()
        if not path.exists():
            raise UsageError(f"There is no file {path}.")
        mapping = mapping_file.parse(self._map(options["map"]))
        mapping = replace(
            mapping,
            duplicates=options["duplicates"] or mapping.duplicates,
            good_only=options["good_only"] or mapping.good_only,
        )
        arguments = {"path": path, "tool": options["tool"], "mapping": mapping, "by": None, "now": now}
        arguments["rest"] = options["rest"]
        project = self.project(options["project"])
        is_dry = options["look"] or options["write_map"]
        preview = (response_import.look if is_dry else response_import.write)(project=project, **arguments)
        self._show(preview)
        if options["write_map"]:
            with options["write_map"].open("x", encoding="utf-8") as file:
                file.write(yaml_file.write(mapping_file.as_data(preview.mapping)))
            self.stdout.write(f"Mapping written to {options['write_map']}. No responses were imported.")
        elif preview.problems:
            self.write_good(preview.imported)
            raise CommandError(
                f"No responses were imported. Problems: {max(preview.rejected, len(preview.problems))}."
            )
        else:
            if not is_dry:
                self.write_rejected(preview.rejected, options["rest"])
            end = "Dry run: no responses were imported." if is_dry else f"Batch: {preview.mapping.batch}."
            self.stdout.write(f"Responses: {preview.imported}. Items: {preview.items}. {end}")

    def _map(self, path: Path | None) -> Any:
        if path is None:
            return {}
        try:
            return yaml_file.read(path.read_text(encoding="utf-8")).value
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} is not readable as UTF-8 ({error}).") from None
        except StudyError as error:
            raise UsageError(f"{path}: {error}") from None

    def _show(self, preview: Preview) -> None:
        summary, mapping = preview.summary, preview.mapping
        new = " (new)" if preview.is_new_type else ""
        self.stdout.write(f"Task type: {mapping.task_type}{new}. Source: {mapping.source}.")
        for name, column in summary.columns.items():
            values = ", ".join(f"{value} ({count})" for value, count in column.values.most_common(8))
            self.stdout.write(f"Field {name} -> {mapping.fields[name] or 'left out'}: {values}")
        for name_in_file, here, count in preview.people:
            simulated = " (simulated)" if name_in_file in summary.simulated else ""
            self.stdout.write(
                f"Person {name_in_file or '(not named)'}{simulated} -> {here}: {count} responses"
            )
        if summary.first and summary.last:
            self.stdout.write(f"Times: {summary.first:%Y-%m-%d %H:%M} to {summary.last:%Y-%m-%d %H:%M} UTC.")
        if summary.without_time:
            self.stdout.write(
                f"Responses without a time: {summary.without_time}. They get the time of import."
            )
        if preview.proposals:
            self.stdout.write(f"Predictions of models that become proposals: {preview.proposals}.")
        for finding in preview.report.sentences():
            self.stdout.write(str(finding))
        for count, what in preview.losses:
            self.stdout.write(f"Not imported: {count} {what}.")
        for problem in preview.problems:
            self.stdout.write(str(one_sentence(problem)))
