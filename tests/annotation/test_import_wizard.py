"""The pages of an import: upload, check what was recognised, import; and what to do about problems."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.background import sandbox, uploads
from annotation.models import Job, Source, Upload
from annotation.releases import creation
from annotation.workflow import perturbation_runs
from tableqa.data.answers import accepted
from tableqa.data.typed_json import to_json
from tableqa.readers import archive, preview, table_encodings
from tableqa.readers.worker_process import task_named
from tableqa.releases import record_files
from tests.annotation.cast import World
from tests.annotation.previews import importer

GERMAN = "Nr;Frage;Gold;Tabelle\n1;Wer gewann für Köln?;Ann|Bob;cup.csv\n2;Wer fehlte?;Bob;fehlt.csv\n"
CUP = "Name;Wins\nAnn;3\nBob;4\n"


@pytest.fixture
def mara(world: World) -> Client:
    return importer(world.mara)


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> None:
    """No files of other tests."""
    settings.MEDIA_ROOT = tmp_path / "media"


def packed(**files: str) -> SimpleUploadedFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as inside:
        for name, text in files.items():
            inside.writestr(f"{name}.csv", text)
    return SimpleUploadedFile("tables.zip", content.getvalue())


def uploaded(mara: Client, content: str, name: str = "fragen.csv", encoding: str = "cp1252") -> str:
    """The address of the preview of a file."""
    questions = SimpleUploadedFile(name, content.encode(encoding))
    answer = mara.post("/projects/films/sources/import/", {"questions": questions, "tables": packed(cup=CUP)})
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def text(answer: Any) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def sent(page: Any, **changed: str) -> dict[str, str]:
    """What a browser sends of the form of a preview."""
    form = page.context["form"]
    return {name: str(form[name].value() or "") for name in form.fields} | changed


def test_the_preview_shows_examples_and_what_was_recognised(mara: Client) -> None:
    page = mara.get(uploaded(mara, GERMAN))

    words = text(page)
    assert "Wer gewann für Köln?" in words
    assert "Ann | Bob" in words
    assert "fragen.csv was read as semicolon-separated, Windows-1252" in words
    form = page.context["form"]
    assert form["column_question"].value() == "Frage"
    assert (form["separator"].value(), form["encoding"].value()) == (";", "cp1252")
    assert "fehlt.csv is not in" in words
    assert "/tmp" not in words


def test_a_column_that_was_guessed_wrong_is_corrected_and_the_import_takes_it(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    content = "id,text,question,table\n1,who won?,easy,cup.csv\n"
    url = uploaded(mara, content, "q.csv")
    page = mara.get(url)
    assert page.context["examples"][0]["example"].question == "easy"

    page = mara.post(url, sent(page, column_question="text"))
    assert page.context["examples"][0]["example"].question == "who won?"
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(
            url,
            sent(page, act="import", licence="CC-BY-4.0", citation="Ann (2026)", url="https://cup.example/"),
        )

    source = Source.objects.get(name="q")
    assert source.how["fields"] == {"question": "text"}
    assert (source.licence, source.citation, source.url) == (
        "CC-BY-4.0",
        "Ann (2026)",
        "https://cup.example/",
    )
    assert source.examples.get().question == "who won?"


def test_a_csv_file_that_holds_its_tables_is_imported_as_it_was_recognised(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    content = 'id;question;answers;table\n1;how long is Heat?;170;"Film,Minutes\nHeat,170"\n'
    questions = SimpleUploadedFile("questions.csv", content.encode())
    url = mara.post("/projects/films/sources/import/", {"questions": questions})["Location"]

    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(mara.get(url), act="import"))

    example = Source.objects.get(name="questions").examples.get()
    table = example.example().table
    assert (example.question, list(table.header)) == ("how long is Heat?", ["Film", "Minutes"])
    assert [list(row) for row in table.rows] == [["Heat", "170"]]


@pytest.mark.django_db(transaction=True)
def test_the_licence_citation_and_url_of_the_page_are_in_a_release(
    mara: Client, world: World, tmp_path: Path
) -> None:
    url = uploaded(mara, "id,question,table\n1,who won?,cup.csv\n", "cup-dev.csv")
    credit = {"licence": "CC-BY-NC-4.0", "citation": "Ann (2026)", "url": "https://cup.example/"}
    mara.post(url, sent(mara.get(url), act="import", **credit))
    source = Source.objects.get(name="cup-dev")
    run = perturbation_runs.plan_run(
        project=world.project, kinds=["row_shuffle"], seeds=[33], sources=[source], now=timezone.now()
    )
    perturbation_runs.perform(run)

    out = tmp_path / "release"
    creation.make_release(
        project=world.project, name="1.0", format="askew", by=None, now=timezone.now(), out=out
    )

    (record,) = (
        each for each in record_files.records(out / "sources.jsonl") if each.get("name") == source.name
    )
    assert {name: record[name] for name in credit} == credit
    statement = (out / "DATA_STATEMENT.md").read_text(encoding="utf-8")
    assert all(text in statement for text in credit.values())


def test_the_next_file_with_these_columns_is_read_in_the_same_way(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    content = "id,text,question,table\n{n},who won?,easy,cup.csv\n"
    url = uploaded(mara, content.format(n=1), "one.csv")
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(mara.get(url), column_question="text", act="import"))

    page = mara.get(uploaded(mara, content.format(n=2), "two.csv"))

    assert page.context["form"]["column_question"].value() == "text"


def test_another_separator_gives_other_columns(mara: Client) -> None:
    url = uploaded(mara, "question|x,table\nwho|a?,cup.csv\n", "q.csv")
    page = mara.get(url)
    assert page.context["form"]["column_question"].value() == ""

    page = mara.post(url, sent(page, separator="|"))

    assert page.context["form"]["column_question"].value() == "question"
    assert "no column is known as the table" in text(page)


def test_answers_are_parted_by_a_separator_of_ones_own(mara: Client) -> None:
    url = uploaded(mara, "question,answers,table\nwho?,Ann; Bob,cup.csv\n", "q.csv")

    page = mara.post(url, sent(mara.get(url), answer_separator=";"))

    assert page.context["examples"][0]["example"].answers == ("Ann", "Bob")


def test_a_column_is_chosen_as_alternative_answers(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    url = uploaded(mara, "question,answers,others,table\nwho?,Ann,Ann Lee|A. Lee,cup.csv\n", "q.csv")

    page = mara.post(url, sent(mara.get(url), column_alternatives="others"))

    assert "Ann or Ann Lee or A. Lee" in text(page)
    assert "Several accepted answers, each right by itself" in text(page)
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(page, act="import"))
    source = Source.objects.get(name="q")
    assert source.how["fields"]["alternatives"] == "others"
    assert accepted(source.examples.get().gold) == (("Ann",), ("Ann Lee",), ("A. Lee",))


def test_a_published_format_needs_no_choice(
    mara: Client, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    questions = SimpleUploadedFile("more-dev.tsv", (tmp_path / "films-dev.tsv").read_bytes())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as inside:
        inside.write(tmp_path / "csv/1-csv/1.csv", "csv/1-csv/1.csv")
    tables = SimpleUploadedFile("tables.zip", archive.getvalue())

    url = mara.post("/projects/films/sources/import/", {"questions": questions, "tables": tables})["Location"]
    page = mara.get(url)

    assert page.context["form"]["reader"].value() == "wtq"
    assert page.context["form"]["licence"].value() == "CC-BY-SA-4.0"
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(page, act="import"))
    assert Source.objects.get(name="more-dev").examples_count == 4


def test_the_archive_of_wikisql_needs_no_choice_and_one_split_after_another_is_imported(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    record = {"phase": 1, "question": "which?", "sql": {"sel": 0, "conds": [], "agg": 0}}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as inside:
        for split in ("dev", "test"):
            table = {"id": split, "header": ["City"], "rows": [[f"Rome in {split}"]]}
            inside.writestr(f"data/{split}.jsonl", json.dumps({**record, "table_id": split}))
            inside.writestr(f"data/{split}.tables.jsonl", json.dumps(table))
    start = {"questions": SimpleUploadedFile("wikisql.zip", content.getvalue())}

    page = mara.get(mara.post("/projects/films/sources/import/", start)["Location"])

    assert page.context["form"]["reader"].value() == "wikisql"
    assert "wikisql.zip was read as WikiSQL. Its splits are dev, test." in text(page)
    assert "Rome in dev" in text(page)
    for split in ("dev", "test"):
        start = {"questions": SimpleUploadedFile("wikisql.zip", content.getvalue())}
        url = mara.post("/projects/films/sources/import/", start)["Location"]
        with django_capture_on_commit_callbacks(execute=True):
            mara.post(url, sent(mara.get(url), act="import", split=split))
    imported = Source.objects.filter(name="wikisql").order_by("pk")
    assert [(source.split, source.examples.get().answers) for source in imported] == [
        ("dev", ["Rome in dev"]),
        ("test", ["Rome in test"]),
    ]


def test_a_licence_that_is_no_identifier_is_asked_for_again(mara: Client) -> None:
    url = uploaded(mara, GERMAN)

    page = mara.post(url, sent(mara.get(url), act="import", licence="free to use!"))

    assert "Enter an SPDX identifier" in text(page)
    assert not Job.objects.filter(kind="import").exists()


@pytest.fixture
def refused(mara: Client, django_capture_on_commit_callbacks: Any) -> Job:
    url = uploaded(mara, GERMAN)
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(mara.get(url), act="import"))
    return Job.objects.latest("pk")


def test_problems_are_a_table_with_the_choice_to_import_the_rest(
    mara: Client, refused: Job, django_capture_on_commit_callbacks: Any
) -> None:
    page = mara.get(reverse("job", args=[refused.public_id]))

    words = text(page)
    assert "1 problem" in words
    assert "fragen.csv 3 (2) Tabelle the table fehlt.csv is not in" in words
    assert words.count("the table fehlt.csv is not in") == 1
    rest = mara.get(reverse("import_rest", args=[refused.public_id]))
    assert rest["Content-Disposition"] == 'attachment; filename="fragen-rejected.csv"'
    assert "Wer fehlte?" in rest.getvalue().decode("utf-8-sig")
    assert "Import the 1 good record" in words
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(reverse("import_good_only", args=[refused.public_id]))
    assert Source.objects.get(name="fragen").examples_count == 1
    words = text(mara.get(reverse("job", args=[Job.objects.latest("pk").public_id])))
    assert "1 record was left out because of a problem." in words


def test_the_preview_of_the_corrected_rest_suggests_name_and_licence_of_its_source(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    url = uploaded(mara, GERMAN)
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(mara.get(url), act="import", licence="CC-BY-4.0", citation="Ann (2026)"))
    refused = Job.objects.latest("pk")
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(reverse("import_good_only", args=[refused.public_id]))
    rest = mara.get(reverse("import_rest", args=[refused.public_id])).getvalue().decode("utf-8-sig")

    url = uploaded(mara, rest.replace("fehlt.csv", "cup.csv"), "fragen-rejected (1).csv", "utf-8")

    form = mara.get(url).context["form"]
    assert [form[name].value() for name in ("name", "licence", "citation")] == [
        "fragen",
        "CC-BY-4.0",
        "Ann (2026)",
    ]


def test_a_check_lists_the_problems_of_all_records_and_imports_nothing_before_the_choice(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    number = preview.MOST_READ
    good = "".join(f"{n};Wer {n}?;Ann;cup.csv\n" for n in range(1, number + 1))
    url = uploaded(mara, f"Nr;Frage;Gold;Tabelle\n{good}{number + 1};Wer fehlte?;Bob;fehlt.csv\n")
    page = mara.get(url)
    assert "fehlt.csv" not in text(page)
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(page, act="check"))
    check = Job.objects.latest("pk")

    words = text(mara.get(reverse("job", args=[check.public_id])))

    assert f"fragen.csv {number + 2} ({number + 1}) Tabelle the table fehlt.csv is not in" in words
    assert f"Import the {number} good records" in words
    assert f"{number + 1} records. 1 record has a problem." in words
    assert not Source.objects.filter(name="fragen").exists()
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(reverse("import_good_only", args=[check.public_id]))
    assert Source.objects.get(name="fragen").examples_count == number


def test_a_check_without_problems_leads_to_the_import(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    url = uploaded(mara, "question,table\nwho?,cup.csv\nwhen?,cup.csv\n", "q.csv")
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(mara.get(url), act="check"))
    check = Job.objects.latest("pk")

    words = text(mara.get(reverse("job", args=[check.public_id])))

    assert "Checking examples" in words
    assert "No problems in 2 records. Nothing has been imported." in words
    assert "Fix it and try again" not in words
    assert not Source.objects.filter(name="q").exists()
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(reverse("import_good_only", args=[check.public_id]))
    source = Source.objects.get(name="q")
    assert source.examples_count == 2
    assert "good_only" not in source.how


def test_a_refused_import_leads_back_to_the_choices_with_its_files(mara: Client, refused: Job) -> None:
    page = mara.get(reverse("job", args=[refused.public_id])).content.decode()

    upload = Upload.objects.get(pk=refused.ids["questions"])
    assert f"/sources/import/{upload.public_id}/?tables=" in page


def test_a_file_that_was_imported_has_no_preview_any_more(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    url = uploaded(mara, "question,table\nwho?,cup.csv\n", "q.csv")
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(mara.get(url), act="import"))

    assert "Upload the files again" in text(mara.get(url, follow=True))


def zipped(**files: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("all.zip", packed(**files).read())


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process, whose functions a test has changed."""

    def call(task: str, request: Any, beat: Any = lambda number: None, **more: Any) -> Any:
        return to_json(task_named(task)(request, beat))

    monkeypatch.setattr(sandbox, "call", call)


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("in_one", [True, False])
def test_an_archive_is_unpacked_once_for_all_its_previews_and_the_import(
    mara: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any, in_one: bool
) -> None:
    unpackings: list[Path] = []
    opened = archive._open_zip

    def counted(path: Path) -> Any:
        unpackings.append(path)
        return opened(path)

    monkeypatch.setattr(archive, "_open_zip", counted)
    content = "id,text,question,table\n1,who won?,easy,cup.csv\n"
    if in_one:
        files = {"questions": zipped(q=content, cup=CUP)}
    else:
        files = {"questions": SimpleUploadedFile("q.csv", content.encode()), "tables": packed(cup=CUP)}
    url = mara.post("/projects/films/sources/import/", files)["Location"]

    page = mara.post(url, sent(mara.get(url), column_question="text"))
    assert "who won?" in text(page)
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(page, act="import"))

    assert Source.objects.latest("pk").examples.get().question == "who won?"
    assert len(unpackings) == 1
    assert not list(uploads.unpacked_folder().iterdir())


def many_tables(number: int, questions: str) -> SimpleUploadedFile:
    """An archive of questions and a folder of tables."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr("questions.csv", questions)
        for table in range(number):
            made.writestr(f"tables/{table}.csv", f"Name,Wins\nAnn,{table}\n")
    return SimpleUploadedFile("all.zip", held.getvalue())


def asked(number: int) -> str:
    rows = "".join(f"{n},who won {n}?,tables/{n}.csv\n" for n in range(number))
    return f"id,question,table\n{rows}"


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("in_one", [True, False])
def test_the_preview_of_an_archive_of_many_tables_reads_only_those_that_it_shows_or_compares(
    mara: Client, monkeypatch: pytest.MonkeyPatch, in_one: bool
) -> None:
    number = archive.MANY_FILES + 1
    written: list[str] = []
    unpack_file = archive.unpack_file

    def counted(path: Path, packed: Any, *others: Any) -> int:
        written.append(packed.name)
        return unpack_file(path, packed, *others)

    monkeypatch.setattr(archive, "unpack_file", counted)
    if in_one:
        files = {"questions": many_tables(number, asked(number))}
    else:
        sheet = SimpleUploadedFile("q.csv", asked(number).encode())
        files = {"questions": sheet, "tables": many_tables(number, "a,b\n1,2\n")}

    page = text(mara.get(mara.post("/projects/films/sources/import/", files)["Location"]))

    assert "who won 4?" in page
    assert "who won 5?" not in page
    assert preview.SHOWN <= table_encodings.MOST_FILES < number
    assert sorted(written) == sorted(
        ["questions.csv", *(f"tables/{n}.csv" for n in range(table_encodings.MOST_FILES))]
    )
    assert not list(uploads.unpacked_folder().iterdir())


def test_an_archive_of_many_tables_is_imported_whole(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    number = archive.MANY_FILES + 1
    files = {"questions": many_tables(number, asked(number))}
    url = mara.post("/projects/films/sources/import/", files)["Location"]

    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(mara.get(url), act="import"))

    assert Source.objects.latest("pk").examples.count() == number


def test_a_table_that_is_damaged_is_a_problem_of_the_preview(mara: Client) -> None:
    number = archive.MANY_FILES + 1
    damaged = many_tables(number, asked(number)).read().replace(b"Ann,0", b"Ann,x", 1)
    files = {"questions": SimpleUploadedFile("all.zip", damaged)}

    page = text(mara.get(mara.post("/projects/films/sources/import/", files)["Location"]))

    assert "the zip archive cannot be read" in page
    assert "who won 5?" in page


def test_what_was_unpacked_for_a_preview_goes_with_the_upload_that_nobody_imported(
    mara: Client, world: World
) -> None:
    mara.get(uploaded(mara, GERMAN))
    assert len(list(uploads.unpacked_folder().iterdir())) == 1

    later = timezone.now() + uploads.KEPT * 2
    file = SimpleUploadedFile("q.csv", b"question,table\n")
    uploads.keep(project=Upload.objects.earliest("pk").project, file=file, by=world.mara, now=later)

    assert not list(uploads.unpacked_folder().iterdir())


def test_an_archive_that_is_refused_leaves_nothing_unpacked(mara: Client) -> None:
    damaged = packed(cup=CUP).read()
    damaged = damaged.replace(b"Ann;3", b"Ann;4", 1)  # the checksum of the member is wrong now
    files = {"questions": SimpleUploadedFile("all.zip", damaged)}

    mara.get(mara.post("/projects/films/sources/import/", files)["Location"])

    assert not list(uploads.unpacked_folder().iterdir())


@pytest.mark.parametrize(
    ("chosen", "fields"),
    [
        ({"question": "question", "table": "table"}, {}),
        ({"question": "text", "table": "table"}, {"question": "text"}),
        ({"question": "question", "title": ""}, {"title": ""}),
        ({"question": "question", "answers": "gone"}, {}),
    ],
)
def test_only_what_differs_from_the_guess_is_kept(chosen: dict[str, str], fields: dict[str, str]) -> None:
    assert preview.unguessed_columns(chosen, ["question", "text", "table", "title"]) == fields


def test_the_encoding_of_the_tables_is_shown_and_can_be_chosen(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as inside:
        inside.writestr("cup.csv", "Stadt\nGdańsk\n".encode("cp1250"))
    questions = SimpleUploadedFile("städte.csv", "id,question,table\n1,wo in Köln?,cup.csv\n".encode())
    tables = SimpleUploadedFile("tables.zip", content.getvalue())
    answer = mara.post("/projects/films/sources/import/", {"questions": questions, "tables": tables})
    url = str(answer["Location"])

    page = mara.get(url)
    assert "Tables that are not Unicode were read as" in text(page)
    assert "The encoding is a guess: check these letters." in text(page)

    page = mara.post(url, sent(page, table_encoding="cp1250"))
    form, example = page.context["form"], page.context["examples"][0]["example"]
    assert (form["encoding"].value(), form["table_encoding"].value()) == ("utf-8", "cp1250")
    assert (example.question, example.table.rows) == ("wo in Köln?", (("Gdańsk",),))
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(page, act="import"))
    assert Source.objects.get(name="städte").how["fields"] == {"table_encoding": "cp1250"}


def test_without_tables_from_before_unicode_their_encoding_cannot_be_chosen(mara: Client) -> None:
    assert "table_encoding" not in mara.get(uploaded(mara, GERMAN)).context["form"].fields


def test_a_chosen_encoding_of_the_questions_leaves_that_of_the_tables(mara: Client) -> None:
    questions = SimpleUploadedFile("q.csv", "id,question,table\n1,wo in Łódź?,cup.csv\n".encode("cp1250"))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as inside:
        inside.writestr("cup.csv", "Stadt\nKöln\n".encode("mac-roman"))
    tables = SimpleUploadedFile("tables.zip", content.getvalue())
    answer = mara.post("/projects/films/sources/import/", {"questions": questions, "tables": tables})
    url = str(answer["Location"])

    page = mara.post(url, sent(mara.get(url), encoding="cp1250", table_encoding="mac-roman"))

    form, example = page.context["form"], page.context["examples"][0]["example"]
    assert (form["encoding"].value(), form["table_encoding"].value()) == ("cp1250", "mac-roman")
    assert (example.question, example.table.rows) == ("wo in Łódź?", (("Köln",),))
