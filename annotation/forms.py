"""The forms of the pages: what may be typed, with a sentence for everything that may not.

A form checks shapes only. Whether something may be done is asked of `access` and `visibility`, and what
else can be wrong is refused by the journeys.
"""

from __future__ import annotations

import functools
import json
import zoneinfo
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import password_validation
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.text import slugify

from annotation import assigning, helping, importing, setting_up, strategies
from annotation.assigning_forms import TERMS, TermsForm
from annotation.models import Batch, Person, Project, Source
from annotation.release_files import FORMATS
from annotation.roles import DESCRIPTIONS, Permission, Role
from predictor.configuration import is_live
from tableqa.perturbations import PERTURBATIONS, SEEDS
from tableqa.readers import READERS
from tableqa.selection import KINDS
from tasks.contract import TaskType

SCOPES: dict[Permission, str] = {
    Permission.ANNOTATE: "take items and submit responses",
    Permission.ADJUDICATE: "decide where annotators differ",
    Permission.SEE_PROGRESS: "read progress, releases and jobs",
    Permission.IMPORT: "import examples",
    Permission.SET_UP: "plan, open and close batches",
    Permission.INVITE: "invite people",
    Permission.RELEASE: "make releases",
}


@functools.cache
def time_zones() -> list[tuple[str, str]]:
    """The zones of the tz database by their names of place, UTC first."""
    areas = (
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Europe",
        "Indian",
        "Pacific",
    )
    named = sorted(
        zone for zone in zoneinfo.available_timezones() if zone.partition("/")[0] in areas and "/" in zone
    )
    return [("UTC", "UTC"), *((zone, zone.replace("_", " ")) for zone in named)]


class TimeZoneField(forms.ChoiceField):
    """A place whose clock is meant. A zone that is stored already stays choosable, whatever it is called."""

    def __init__(self, *, stored: str = "", **kwargs: Any) -> None:
        known = time_zones()
        kept = [(stored, stored)] if stored and stored not in dict(known) else []
        super().__init__(choices=[*kept, *known], initial=stored or "UTC", **kwargs)


# -- people -----------------------------------------------------------------------------------------


class SignInForm(AuthenticationForm):
    """E-mail and password. Which of the two was wrong is not told."""

    username = forms.EmailField(
        label="E-mail", widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True})
    )
    error_messages = {
        "invalid_login": "This e-mail address and password do not go together. Check both; capitals matter.",
        "inactive": "This account is closed.",
    }


class RegisterForm(forms.Form):
    """An account for somebody who holds an invitation."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        strip=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 10 characters, not only digits and not a common password.",
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        password = given.get("password")
        if password:
            person = Person(name=given.get("name", ""), email=given.get("email"))
            try:
                password_validation.validate_password(password, person)
            except ValidationError as error:
                self.add_error("password", error)
        return given


class AccountForm(forms.Form):
    """What a person says of themselves."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = person.name
        self.fields["time_zone"] = TimeZoneField(
            stored=person.time_zone, help_text="Pages show times as clocks there do."
        )


class PasswordForm(forms.Form):
    """The old password and a new one. Somebody who came in by a link has no old one to give."""

    new = forms.CharField(
        label="New password",
        strip=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least 10 characters, not only digits and not a common password.",
    )

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person
        self.fields["old"] = forms.CharField(
            label="Old password",
            strip=False,
            max_length=500,
            widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        )
        self.order_fields(["old", "new"])

    def clean_old(self) -> str:
        old: str = self.cleaned_data["old"]
        if not self.person.check_password(old):
            raise ValidationError("This is not your password.")
        return old

    def clean_new(self) -> str:
        new: str = self.cleaned_data["new"]
        password_validation.validate_password(new, self.person)
        return new


class TokenForm(forms.Form):
    """A key for a program: what it is for, which project it opens, what it may do there."""

    name = forms.CharField(max_length=80, help_text="What it is for, e.g. nightly export.")
    project = forms.ModelChoiceField(queryset=Project.objects.none(), to_field_name="slug", empty_label=None)
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=[(scope.value, words) for scope, words in SCOPES.items()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one thing that the token may do."},
        help_text="Never more than your own roles allow.",
    )

    def __init__(self, *args: Any, projects: QuerySet[Project], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]

    def clean_scopes(self) -> list[Permission]:
        return [Permission(scope) for scope in self.cleaned_data["scopes"]]


class RolesForm(forms.Form):
    """What somebody is in a project."""

    roles = forms.MultipleChoiceField(
        choices=[(role.value, f"{role.value.capitalize()}: {DESCRIPTIONS[role]}") for role in Role],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one role."},
    )

    def clean_roles(self) -> list[Role]:
        return [Role(role) for role in self.cleaned_data["roles"]]


class InviteForm(RolesForm):
    """Whom the link is for, what they will do, and how long the link works."""

    name = forms.CharField(
        max_length=120,
        required=False,
        label="For whom",
        help_text="Only for this list, so that you can tell links apart.",
    )
    days = forms.IntegerField(
        label="Works for so many days",
        min_value=1,
        max_value=setting_up.LONGEST_INVITATION.days,
        initial=setting_up.INVITATION_LIFE.days,
        required=False,
    )
    field_order = ("name", "roles", "days")

    def clean_days(self) -> int:
        return int(self.cleaned_data["days"] or 0) or setting_up.INVITATION_LIFE.days


# -- setting up -------------------------------------------------------------------------------------


class ProjectForm(forms.Form):
    """A project's name, its address, and where its days begin."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    slug = forms.RegexField(
        r"\A[a-z0-9][a-z0-9-]*\Z",
        required=False,
        max_length=60,
        label="Address",
        help_text="Small letters, digits and hyphens. Leave it empty to have it made from the name.",
        error_messages={
            "invalid": "Use small letters, digits and hyphens only, and begin with a letter or digit."
        },
        empty_value="",
    )
    time_zone = TimeZoneField(help_text="Where the project's days and weeks begin.")

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if "slug" in given and "name" in given:
            given["slug"] = given["slug"] or slugify(given["name"]).replace("_", "-").strip("-")[:60].strip(
                "-"
            )
            if not given["slug"]:
                self.add_error("slug", "This name makes no address. Write one, in small letters and digits.")
            elif given["slug"] in setting_up.RESERVED_SLUGS:
                self.add_error(
                    "slug", f"The address {given['slug']!r} is taken by a page. Choose another one."
                )
        return given


class RenameForm(forms.Form):
    """A project's name and time zone."""

    name = forms.CharField(
        max_length=120, help_text="The address stays as it is, so that no link and no token breaks."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = project.name
        self.fields["time_zone"] = TimeZoneField(
            stored=project.time_zone,
            help_text="Days and weeks of this project are counted as clocks there do.",
        )


class GuidelinesForm(forms.Form):
    """A new version of the text that annotators read."""

    text = forms.CharField(
        label="Guidelines",
        strip=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true"}),
        help_text="Markdown; HTML is shown as text. Saving makes a new version, and annotations made before keep theirs.",
    )

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n").strip("\n")
        if not text.strip():
            raise ValidationError("Guidelines cannot be empty.")
        return text + "\n"


# -- importing --------------------------------------------------------------------------------------


class ImportForm(forms.Form):
    """A published format, the file of its questions, and its tables where they lie in files of their own."""

    reader = forms.ChoiceField(label="Format")
    questions = forms.FileField(label="File of questions")
    tables = forms.FileField(
        required=False,
        label="Tables and other files",
        help_text="A zip archive, where the format has more than one file (see below). Folders inside are fine.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(name, reader.title) for name, reader in sorted(READERS.items())]
        self.fields["reader"].choices = choices  # type: ignore[attr-defined]

    def clean_questions(self) -> Any:
        return _upload(self.cleaned_data["questions"])

    def clean_tables(self) -> Any:
        file = self.cleaned_data["tables"]
        return _upload(file) if file else None


def _upload(file: Any) -> Any:
    """The source is named after the file, so its name must be short enough to be one."""
    if file.size > importing.MOST_UPLOAD:
        raise ValidationError(
            f"{file.name} is larger than {importing.MOST_UPLOAD // 2**20} MB. Import it from the command line."
        )
    if len(file.name) > 100:
        raise ValidationError("The name of this file is longer than 100 characters. Give it a shorter one.")
    return file


# -- assigning --------------------------------------------------------------------------------------


OF = {
    "originals": "originals, as the source has them",
    "perturbed": "examples that people perturbed",
    "automatic": "examples that a program perturbed",
}


class BatchForm(TermsForm):
    """Everything of a batch but its kind, which is chosen first, and the settings of the kind (`SettingsForm`)."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    sources = forms.ModelMultipleChoiceField(
        queryset=Source.objects.none(),
        to_field_name="public_id",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="At least one, unless another batch feeds this one.",
    )
    of = forms.ChoiceField(required=False, label="Which examples")
    size = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000_000,
        label="Sample size",
        help_text="Leave it empty to take every example.",
    )
    strata = forms.ChoiceField(
        required=False,
        label="How the sample is drawn",
        choices=list(strategies.STRATA.items()),
        help_text=f"A small table has at most {strategies.SMALL} cells, a medium one {strategies.MEDIUM}.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        initial=0,
        help_text="The same seed draws the same sample in the same order.",
    )
    overlap = forms.IntegerField(
        min_value=1,
        max_value=assigning.MOST_OVERLAP,
        label="People per item",
    )
    purpose = forms.ChoiceField(
        required=False,
        label="What it is for",
        choices=[
            ("work", "work: its decisions make the benchmark"),
            (
                "calibration",
                "a calibration round: everyone does the same items, and looks at where they differ",
            ),
            ("qualification", "a qualification: whoever is good enough may work elsewhere"),
        ],
    )
    pass_percent = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        label="Right items that pass the qualification, in percent",
    )
    strategy = forms.ChoiceField(
        required=False,
        label="Who gets which items",
        choices=[(name, words) for name, words in strategies.STRATEGIES.items()],
        help_text="Whoever made something never gets to check it.",
    )
    feeds_when = forms.CharField(
        required=False,
        label="Only outcomes that say",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text="A field and its values on each line, such as: label = extraction, reasoning",
    )
    feeds_from = forms.ModelChoiceField(
        queryset=Batch.objects.none(),
        to_field_name="public_id",
        required=False,
        label="Fed by",
        empty_label="no other batch",
        help_text="Accepted outcomes of that batch become items of this one, and their makers never get them.",
    )
    loop_model = forms.ChoiceField(
        required=False,
        label="Model in the loop",
        help_text="Annotators see what it says of their work. Its weights are frozen when the batch opens.",
    )
    help = forms.ChoiceField(
        required=False,
        label="How proposals are shown",
        choices=[
            ("", "not at all"),
            ("offered", "beside an empty form"),
            ("filled", "filled in, for people to verify"),
        ],
        help_text="Machines propose whole responses; people accept, edit or reject them. Whose each response is is kept.",
    )
    help_rules = forms.BooleanField(
        required=False, initial=True, label="Proposals by rules", help_text="They need no model."
    )
    help_models = forms.MultipleChoiceField(
        required=False,
        label="Proposals by language models",
        widget=forms.CheckboxSelectMultiple,
        help_text="Asked in the background when the batch opens, with accepted responses of people as demonstrations.",
    )
    repetitions = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=helping.MOST_REPETITIONS,
        initial=helping.REPETITIONS,
        label="Requests for each category",
    )
    search = forms.BooleanField(
        required=False,
        label="Put first what fools the model in the loop",
        help_text="Every proposal is tried on it in the background.",
    )
    unhelped = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=helping.MOST_UNHELPED,
        initial=0,
        label="Share without help, in percent",
        help_text="So many places are drawn to show no proposals: what help does to time, quality and variety is then "
        "measured on the report of the batch.",
    )
    open_at_once = forms.BooleanField(
        required=False, initial=True, label="Open it at once", help_text="Annotators get items from then on."
    )

    def __init__(self, *args: Any, task: TaskType, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, task=task, project=project, **kwargs)
        sources = Source.objects.ready().filter(project=project).order_by("name", "pk")
        self.fields["sources"].queryset = sources  # type: ignore[attr-defined]
        self.fields["sources"].label_from_instance = _source_in_words  # type: ignore[attr-defined]
        self.fields["feeds_from"].queryset = Batch.objects.filter(project=project).order_by("-pk")  # type: ignore[attr-defined]
        self.fields["of"].choices = [(name, OF[name]) for name in assigning.about(task)]  # type: ignore[attr-defined]
        if len(assigning.about(task)) == 1:
            self.fields["of"].widget = forms.HiddenInput()
        self.fields["of"].initial = task.of[0]
        self.fields["loop_model"].choices = _models()  # type: ignore[attr-defined]
        if not task.predicts or not settings.PREDICTORS:
            del self.fields["loop_model"]
        chats = [name for name, entry in sorted(settings.PREDICTORS.items()) if entry["protocol"] == "chat"]
        self.fields["help_models"].choices = [(name, name) for name in chats]  # type: ignore[attr-defined]
        without = () if task.proposes else HELP
        for name in (*without, *(("help_models", "repetitions") if not chats else ())):
            self.fields.pop(name, None)
        if "loop_model" not in self.fields:
            self.fields.pop("search", None)
        self.fields["overlap"].initial = task.default_overlap
        why = (
            "whose responses are compared" if not task.making else "each of whom makes something of their own"
        )
        self.fields["overlap"].help_text = f"How many people get each item, {why}."

    def clean(self) -> dict[str, Any]:
        """Everything under the names, and in the shapes, in which `assigning.plan_batch` takes it."""
        given = super().clean() or {}
        found = self.terms_given(given)
        for name in TERMS:
            given.pop(name, None)
        given |= found
        if given.get("purpose") not in ("", "work", None):
            given["strategy"] = ""  # everyone gets every item, whatever stands beside it
        given["purpose"] = given.get("purpose") or "work"
        given["pass_percent"] = (given.get("pass_percent") or 0) if given["purpose"] == "qualification" else 0
        said = {name: given.pop(name, None) for name in HELP}
        given["help"] = said["help"] or ""
        given["unhelped"] = (said["unhelped"] or 0) if given["help"] else 0
        given["help_from"] = {}
        if given["help"]:
            given["help_from"] = {
                "rules": bool(said["help_rules"]),
                "models": said["help_models"] or [],
                "search": bool(said["search"]),
                "repetitions": said["repetitions"] or helping.REPETITIONS,
            }
        return given

    def clean_feeds_when(self) -> dict[str, list[str]]:
        """The lines as {"label": ["extraction"]}."""
        found: dict[str, list[str]] = {}
        for line in str(self.cleaned_data.get("feeds_when") or "").splitlines():
            name, sign, values = (part.strip() for part in line.partition("="))
            said = [value.strip() for value in values.split(",") if value.strip()]
            if line.strip() and not (name and sign and said):
                raise ValidationError(f"Write a field, = and its values; {line.strip()!r} is not that.")
            if said:
                found[name] = said
        return found


HELP = ("help", "help_rules", "help_models", "repetitions", "search", "unhelped")


def _models() -> list[tuple[str, str]]:
    """The models of the settings, with their licences and whether they answer while somebody types."""
    choices = [("", "none")]
    for name, entry in sorted(settings.PREDICTORS.items()):
        facts = [entry.get("licence", ""), "" if is_live(entry) else "answers in the background"]
        words = ", ".join(filter(None, facts))
        choices.append((name, f"{name} ({words})" if words else name))
    return choices


def _source_in_words(source: Source) -> str:
    return f"{source.name}: {source.examples_count} examples"


class SettingsForm(forms.Form):
    """The settings of a kind of annotation, rendered from its JSON Schema alone.

    Fields that are left empty are left out, so that the schema's defaults apply.
    """

    def __init__(self, *args: Any, schema: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.specs: Mapping[str, Any] = schema.get("properties", {})
        required = set(schema.get("required", ()))
        for name, spec in self.specs.items():
            self.fields[name] = _field(name, spec, required=name in required and "default" not in spec)

    def settings(self) -> dict[str, Any]:
        """What was set, by name, for the domain to fill up and to validate."""
        given = ((name, self.cleaned_data[name]) for name in self.specs)
        return {name: value for name, value in given if value not in (None, "", [])}


def _field(name: str, spec: Mapping[str, Any], *, required: bool) -> forms.Field:
    common: dict[str, Any] = {
        "label": spec.get("title") or name.replace("_", " ").capitalize(),
        "help_text": spec.get("description", ""),
        "initial": spec.get("default"),
        "required": required,
    }
    if "enum" in spec:
        empty = [] if required or "default" in spec else [("", "not set")]
        return forms.TypedChoiceField(
            choices=[*empty, *((str(value), str(value)) for value in spec["enum"])],
            coerce={str(value): value for value in spec["enum"]}.get,
            empty_value=None,
            **common,
        )
    if spec.get("type") == "boolean":
        return forms.BooleanField(**{**common, "required": False})
    if spec.get("type") in ("integer", "number"):
        number = forms.IntegerField if spec["type"] == "integer" else forms.FloatField
        return number(min_value=spec.get("minimum"), max_value=spec.get("maximum"), **common)
    if spec.get("type") == "string":
        return forms.CharField(
            max_length=spec.get("maxLength", 2_000),
            min_length=spec.get("minLength"),
            empty_value="",
            **common,
        )
    if spec.get("type") == "array" and spec.get("items", {}).get("type") == "string":
        return LinesField(**common)
    return forms.JSONField(**common)


class LinesField(forms.CharField):
    """Texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        lines = (line.strip() for line in (super().to_python(value) or "").splitlines())
        return [line for line in lines if line]


# -- perturbing -------------------------------------------------------------------------------------


class PerturbForm(forms.Form):
    """Which automatic perturbations of which examples, with which seeds."""

    kinds = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one perturbation."},
    )
    seeds = forms.CharField(
        max_length=400,
        initial=", ".join(map(str, SEEDS)),
        help_text="Numbers with commas between them: each gives another draw of every kind that draws.",
    )
    sources = forms.ModelMultipleChoiceField(
        Source.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all of them.",
    )
    select = forms.ChoiceField(
        required=False,
        choices=[
            ("", "all questions"),
            *((kind, f"{kind} questions, by FREB-TQA's rules") for kind in KINDS),
        ],
        label="Questions",
    )
    rules = forms.ChoiceField(
        choices=[("released", "as in the released files"), ("paper", "as the paper's text has them")],
        label="FREB-TQA's rules",
        help_text="Counts only where the questions are chosen by them.",
    )
    decided = forms.CharField(
        required=False,
        max_length=200,
        label="Only examples decided so",
        help_text="Such as question_type.label=extraction: the kind, its field and the accepted value.",
    )
    feeds_from = forms.ModelChoiceField(
        Batch.objects.none(),
        required=False,
        label="As a batch decides them",
        empty_label="no batch",
        help_text="Originals are perturbed as this batch accepts them; finished once it is closed and decided.",
    )
    feeds_when = forms.CharField(
        required=False,
        max_length=200,
        label="Only these outcomes of the batch",
        help_text="Such as label=extraction: a field of its responses and the accepted value. More with commas.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kinds"].choices = [  # type: ignore[attr-defined]
            (paper, [(kind.name, kind.name) for kind in PERTURBATIONS.values() if kind.paper == paper])
            for paper in dict.fromkeys(kind.paper for kind in PERTURBATIONS.values())
        ]
        self.fields["sources"].queryset = Source.objects.ready().filter(project=project).order_by("name")  # type: ignore[attr-defined]
        self.fields["feeds_from"].queryset = Batch.objects.filter(project=project).order_by("name")  # type: ignore[attr-defined]

    def clean_feeds_when(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for part in filter(None, (one.strip() for one in self.cleaned_data["feeds_when"].split(","))):
            name, said, value = (one.strip() for one in part.partition("="))
            if not (name and said and value):
                raise forms.ValidationError("Write a field and a value, as label=extraction.")
            found.setdefault(name, []).append(value)
        return found

    def clean_seeds(self) -> list[int]:
        try:
            return [int(part) for part in self.cleaned_data["seeds"].replace(",", " ").split()]
        except ValueError:
            raise forms.ValidationError("Write numbers with commas between them, as 33, 16.") from None


# -- adjudicating -----------------------------------------------------------------------------------


class DecisionForm(forms.Form):
    """Either one or more of the responses, or the exclusion of the item; a note, unless the reason says it all."""

    choose = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    exclude = forms.CharField(
        required=False,
        max_length=500,
        label="Because",
        help_text="An excluded item is left out of every release; the reason is published.",
    )
    note = forms.CharField(
        required=False,
        max_length=5_000,
        label="Why you decide so",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Published with the decision.",
    )

    def __init__(self, *args: Any, letters: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["choose"].choices = [(letter, letter) for letter in letters]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("choose") and given.get("exclude"):
            raise ValidationError(
                "You chose responses and gave a reason to exclude the item. Do one of the two."
            )
        if not given.get("choose") and not given.get("exclude"):
            raise ValidationError("Choose at least one response, or say why the item is excluded.")
        if not given.get("note") and not given.get("exclude"):
            self.add_error("note", "Say in a note why you decide so.")
        return given


class SendBackForm(forms.Form):
    """Which response goes back to its author, and what they are told."""

    use_required_attribute = False  # it shares its <form> with the decision, which needs none of it
    back = forms.ChoiceField(error_messages={"required": "Say which response goes back."})
    back_note = forms.CharField(
        max_length=2_000,
        label="What its author should look at",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Write to its author what is wrong with the response."},
    )

    def __init__(self, *args: Any, letters: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["back"].choices = [(letter, letter) for letter in letters]  # type: ignore[attr-defined]


class RuleForm(forms.Form):
    """The rule that decides in a batch, and its options as JSON."""

    rule = forms.ChoiceField(required=False, label="Rule", widget=forms.RadioSelect)
    options = forms.CharField(
        required=False,
        max_length=2_000,
        label="Options",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text='As JSON, such as {"most": 5}. Empty: the usual ones.',
    )

    def __init__(self, *args: Any, rules: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rule"].choices = [("", "The kind\u2019s own rule"), *rules]  # type: ignore[attr-defined]

    def clean_options(self) -> dict[str, Any]:
        text = self.cleaned_data["options"].strip()
        try:
            found = json.loads(text) if text else {}
        except ValueError as error:
            raise forms.ValidationError(f"This is no JSON: {error}.") from None
        if not isinstance(found, dict):
            raise forms.ValidationError('Write an object, such as {"most": 5}.')
        return found

    def clean(self) -> dict[str, Any]:
        """`checked` is the rule as it was written; whether it fits the kind is for `change_rule` to say."""
        given = super().clean() or {}
        options = given.get("options") or {}
        if options and not given.get("rule"):
            raise ValidationError(
                "The kind\u2019s own rule takes its options from the settings of the batch. Name a rule."
            )
        given["checked"] = {"rule": given["rule"], **options} if given.get("rule") else {}
        return given


# -- releasing --------------------------------------------------------------------------------------


class ReleaseForm(forms.Form):
    """The release's name and format."""

    name = forms.CharField(
        max_length=80, help_text="Such as 1.0 or pilot-2026-07. Other data needs another name."
    )
    format = forms.ChoiceField(
        choices=[(name, name) for name in FORMATS],
        help_text="Every format carries the raw records, the decisions and the agreement; the others add their own files.",
    )
    mix = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31,
        label="Seed of a mix",
        help_text="With a seed, accepted perturbations of one question that touch different levels (headers, contents, "
        "question) are composed, two or three at a time. Leave it empty for none.",
    )
    purpose = forms.ChoiceField(
        required=False,
        choices=[
            ("", "as it is decided"),
            ("evaluation", "evaluation: without what a machine proposed and nobody verified"),
            ("training", "training: with proposals that nobody looked at, marked, in files of their own"),
        ],
        help_text="Counts where batches had help in crafting.",
    )
    waivers = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Only where a release is refused because accepted outcomes break their contract: a line for each, its "
        "id, a blank and the reason. Reasons are published.",
    )
    allow_simulated = forms.BooleanField(
        required=False,
        label="Include simulated people",
        help_text="Simulated people annotated here. They are marked in the files; do not publish them as data.",
    )

    def __init__(self, *args: Any, simulated: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not simulated:
            del self.fields["allow_simulated"]

    def clean_waivers(self) -> dict[str, str]:
        found = {}
        for line in self.cleaned_data["waivers"].splitlines():
            outcome, _, reason = line.strip().partition(" ")
            if outcome and not reason.strip():
                raise forms.ValidationError(f"{outcome}: give a reason behind the id.")
            if outcome:
                found[outcome] = reason.strip()
        return found


# -- evaluating -------------------------------------------------------------------------------------


class EvaluateForm(forms.Form):
    """A model's name, and where its answers come from: a file, or a predictor of the settings."""

    name = forms.CharField(max_length=60, label="Model", help_text="As the tables shall call it.")
    file = forms.FileField(
        required=False,
        label="File of predictions",
        help_text='JSON Lines, as {"source": "wtq-dev", "id": "nt-652~row_shuffle-33", "answers": ["1995"]}, or as '
        "FREB-TQA's program writes them.",
    )
    predictor = forms.ChoiceField(
        required=False,
        label="Or ask a predictor",
        help_text="It is asked about every instance of the release, in the background.",
    )
    leave_out_missing = forms.BooleanField(
        required=False,
        label="Do without instances that the file has no prediction for",
        help_text="Otherwise one of them is an error.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(name, name) for name in sorted(settings.PREDICTORS)]
        self.fields["predictor"].choices = [("", "none"), *names]  # type: ignore[attr-defined]
        if not settings.PREDICTORS:
            del self.fields["predictor"]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not self.errors and bool(given.get("file")) == bool(given.get("predictor")):
            raise ValidationError("Send a file of predictions, or choose a predictor: one of the two.")
        return given
