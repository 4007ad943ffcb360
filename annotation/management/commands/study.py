import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from annotation.access.roles import Permission, Role, permissions
from annotation.management.commands._escaping import CommandError, UsageError
from annotation.management.commands._refusing import RefusingCommand
from annotation.management.commands._sources import files_of_study
from annotation.models import Person, Project
from annotation.platform.refusals import ActionRefused
from annotation.study_file import apply as study_file_apply
from annotation.study_file import current_state, plan_text, preregistration, project_export, release_gaps
from annotation.study_file.comparison import Change, SourceProbe
from annotation.study_file.parser import parse
from annotation.study_file.plan import Plan
from annotation.study_file.schema import Study
from annotation.study_file.yaml_file import StudyError
from annotation.workflow import projects
from tableqa.core.command_line import manage


class Command(RefusingCommand):
    help = (
        "Validate a study file, plan its changes and costs, apply it (idempotent), or export the "
        "study file of a project. Exit status: 0 success, 1 findings, 2 usage error."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        help_texts = {
            "validate": "check a study file; needs no project",
            "plan": "show changes and costs",
            "apply": "change the project to match the file",
            "digest": "print the digest that a preregistration has of the file",
            "export": "write the study file of a project ('-': standard output)",
        }
        files = {name: actions.add_parser(name, help=help) for name, help in help_texts.items()}
        for name, subparser in files.items():
            subparser.add_argument("file", metavar="FILE")
            if name not in ("validate", "digest"):
                subparser.add_argument(
                    "--project", metavar="SLUG", help="overrides the project named in the file"
                )
        for name in ("plan", "apply"):
            files[name].add_argument(
                "--source",
                action="append",
                default=[],
                type=_source,
                metavar="SOURCE=PATH",
                help="path of a source by its name, or its number in the file; overrides the file",
            )
        files["plan"].add_argument("--json", action="store_true")
        files["apply"].add_argument(
            "--manager",
            required=True,
            metavar="EMAIL",
            help="acting manager; becomes the first manager of a new project, with a new account if needed",
        )
        files["export"].add_argument("--without-people", action="store_true")
        actions.add_parser("schema", help="print the JSON Schema of study files")

    def run(self, **options: Any) -> None:
        if options["action"] == "schema":
            self.stdout.write(project_export.published_schema(), ending="")
        else:
            getattr(self, options["action"])(options)

    def validate(self, options: dict[str, Any]) -> None:
        study = self.read(options["file"])
        sections = (("people", study.people), ("sources", study.sources), ("batches", study.batches))
        counts = ", ".join(f"{len(section)} {name}" for name, section in sections)
        self.stdout.write(f"{options['file']} is a valid study file: {study.name}, {counts}.")

    def digest(self, options: dict[str, Any]) -> None:
        self.stdout.write(preregistration.study_digest(self.read(options["file"])))

    def plan(self, options: dict[str, Any]) -> None:
        study = self.read(options["file"])
        project = self.existing_project(study, options)
        plan = study_file_apply.plan_for_project(
            study, project, now=timezone.now(), probes=_probes(study, options)
        )
        if options["json"]:
            self.stdout.write(json.dumps(project_export.plan_as_json(plan), ensure_ascii=False, indent=1))
        else:
            effects = {} if project is None or plan.cannot else study_file_apply.effects(plan, project)
            for line in plan_text.lines(plan, effects):
                self.stdout.write(line)
            for gap in release_gaps.find_gaps(project) if project is not None else ():
                self.stdout.write(f"Missing from a release now: {gap}")
        self.refuse(plan)

    def refuse(self, plan: Plan) -> None:
        if plan.cannot:
            count = len(plan.cannot)
            things, they = ("problem", "it is") if count == 1 else ("problems", "they are")
            raise CommandError(
                f"{count} {things} to fix first (marked !). No changes are made until {they} resolved."
            )

    def apply(self, options: dict[str, Any]) -> None:
        study = self.read(options["file"])
        project = self.existing_project(study, options)
        by, is_new_account = self.manager(study, project, options["manager"])
        try:
            applied = study_file_apply.apply(
                study,
                project=project,
                by=by,
                now=timezone.now(),
                probes=_probes(study, options),
                tell=self.tell,
            )
        except ActionRefused:
            if is_new_account and not Project.objects.filter(slug=study.slug).exists():
                by.delete()  # nothing was begun, and no person was added
            raise
        if is_new_account:
            self.stdout.write(
                f"Created an account for {by.name}. Set a password: {manage(f'changepassword {by.email}')}"
            )
        for link in applied.links:
            address = reverse("join", args=[link.token])
            # `reverse` has the path of PUBLIC_URL in front already.
            whole = urljoin(settings.PUBLIC_URL, address) if settings.PUBLIC_URL else address
            self.stdout.write(f"Send {link.name} this link, shown once: {whole}")
        if applied.links and not settings.PUBLIC_URL:
            self.stdout.write("Put the address of your site before each link, or set PUBLIC_URL.")
        for sentence in applied.left_out:
            self.stdout.write(sentence)
        if applied.failed is not None:
            failed = applied.failed
            raise CommandError(
                f"Stopped at {failed.section} {failed.name}: {applied.why} Earlier changes are kept. Fix the "
                "file and apply it again to continue."
            )
        for change in applied.waits:
            self.stdout.write(plan_text.line(change))
        if not applied.done:
            said_nothing = "Nothing to do: the project matches the file."
            self.stdout.write(plan_text.NOTHING_YET if applied.waits else said_nothing)

    def tell(self, change: Change) -> None:
        self.stdout.write(plan_text.line(change))

    def export(self, options: dict[str, Any]) -> None:
        slug = options["project"]
        if slug is None:
            raise UsageError("Name the project: --project SLUG")
        here = current_state.of_project(
            self.project(slug), now=timezone.now(), derived=False, with_remaining=False
        )
        text = project_export.export_study(here, people=not options["without_people"])
        if options["file"] == "-":
            self.stdout.write(text, ending="")
        else:
            try:
                Path(options["file"]).write_text(text, encoding="utf-8")
            except OSError as error:
                raise UsageError(f"Cannot write {options['file']}: {error.strerror}.") from None
        for note in here.notes:
            sys.stderr.write(f"Note: {note}\n")

    # -- what it is about ---------------------------------------------------------------------------

    def read(self, name: str) -> Study:
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"Cannot read {name}: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise CommandError(f"{name} is not UTF-8 text.") from None
        try:
            return parse(text, folder=_folder(name))
        except StudyError as error:
            raise CommandError("\n".join(f"{name}, {fault}" for fault in error.faults)) from None

    def existing_project(self, study: Study, options: dict[str, Any]) -> Project | None:
        """The project that the file is about; None where it is not there yet. One that is named has to be there."""
        if options["project"]:
            return self.project(options["project"])
        return Project.objects.filter(slug=study.slug).first()

    def manager(self, study: Study, project: Project | None, email: str) -> tuple[Person, bool]:
        """In whose name it is done, and whether they have an account only since now."""
        if project is not None:
            person = self.person(email)
            roles = project.memberships.filter(person=person, removed_at__isnull=True).first()
            may = permissions(roles.roles if roles else [])
            if Permission.SET_UP not in may and not person.is_administrator:
                raise UsageError(f"{email} is not a manager of {project.slug}.")
            return person, False
        account = Person.objects.filter(email=email.lower()).first()
        if account is not None:
            return account, False
        named = (entry.name for entry in study.people if Role.MANAGER.value in entry.roles)
        name = next(named, email.partition("@")[0])
        return projects.register(name=name, email=email.lower(), password=None), True


def _folder(name: str) -> Path:
    return Path(name).resolve().parent


def _probes(study: Study, options: dict[str, Any]) -> dict[int, SourceProbe]:
    files = files_of_study(study, options["source"])
    return study_file_apply.probe_sources(study, folder=_folder(options["file"]), files=files)


def _source(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise ArgumentTypeError("write SOURCE=PATH, for example wtq=data/dev.tsv or 1=data/dev.tsv")
    return name, Path(path).resolve()
