"""Part 3 of FREB-TQA through the API alone: set up, simulate, adjudicate, release, download and verify.

    python docs/study_by_api.py https://askew.example.org TOKEN [FOLDER]

TOKEN is an API token with all scopes, of a person who may create projects. The study file and its sources are those of
fixtures/. The files of the release are written to FOLDER and verified there.
"""

import io
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import httpx
import yaml

from tableqa.releases.verification import verify

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
STUDY = FIXTURES / "studies" / "freb_tqa.yaml"
ANNOTATORS = 5


class Api:
    """A client of one site with a token."""

    def __init__(self, site: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=f"{site}/api/", timeout=120, headers=headers)

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of a reply. Raises SystemExit with the problem where a request is refused."""
        reply = self.client.request(method, path, json=body)
        if reply.is_error:
            sys.exit(f"{method} {path}: {reply.text}")
        return reply.json() if reply.content else None

    def wait(self, job: str) -> dict[str, Any]:
        """The result of a job when it is done."""
        while (state := self("GET", f"jobs/{job}/"))["state"] in ("queued", "running"):
            time.sleep(0.5)
        if state["state"] != "done":
            sys.exit(f"{state['kind']}: {state['error']}")
        return dict(state["result"])

    def apply(self, project: str, study: str) -> None:
        """Make the changes of the study file that can be made now."""
        self.wait(self("POST", f"projects/{project}/study/", {"study": study, "confirmed": True})["job"])

    def upload(self, project: str, name: str, content: bytes) -> str:
        """The id of a file that was sent, in one slice: it is small."""
        upload = self("POST", f"projects/{project}/uploads/", {"name": name, "size": len(content)})
        headers = {"Content-Type": "application/octet-stream"}
        path = f"uploads/{upload['id']}/?offset=0"
        self.client.put(path, content=content, headers=headers).raise_for_status()
        return str(upload["id"])


def set_up(api: Api, text: str) -> str:
    """Create the project with its sources, and apply the study file. Returns the short name of the project."""
    study = yaml.safe_load(text)
    project = {name: study["project"][name] for name in ("slug", "name", "time_zone")}
    token, slug = api("POST", "projects/", project)["token"], str(project["slug"])
    api.client.headers["Authorization"] = f"Bearer {token}"
    (manager,) = api("GET", f"projects/{slug}/members/")
    api("PATCH", f"projects/{slug}/members/{manager['pseudonym']}/", {"roles": ["manager", "adjudicator"]})
    for source in study["sources"]:
        path = STUDY.parent / source["path"]
        request = {name: source[name] for name in ("name", "reader", "split")}
        request["questions"] = api.upload(slug, path.name, path.read_bytes())
        if (path.parent / "csv").is_dir():
            with zipfile.ZipFile(archive := io.BytesIO(), "w") as entries:
                for table in sorted(path.parent.glob("csv/**/*.csv")):
                    entries.write(table, table.relative_to(path.parent))
            request["tables"] = api.upload(slug, "tables.zip", archive.getvalue())
        api.wait(api("POST", f"projects/{slug}/imports/", request)["id"])
    api.apply(slug, text)
    return slug


def work(api: Api, slug: str) -> None:
    """Simulate, adjudicate and close each batch, in the order in which accepted items are passed on."""
    batches = [batch for batch in api("GET", "batches/?page_size=200")["results"] if batch["project"] == slug]
    for batch in reversed(batches):
        path = f"batches/{batch['id']}"
        counts = api.wait(api("POST", f"{path}/simulation/", {"annotators": ANNOTATORS, "seed": 16})["id"])
        submitted = sum(count["submitted"] for count in counts["simulated"].values())
        decided = 0
        while waiting := api("GET", f"projects/{slug}/adjudication/"):
            for item in waiting:
                decision = {"choose": ["A"]} if item["candidates"] else {"exclude": "no response"}
                api("POST", f"items/{item['item']}/decide/", {**decision, "note": "first response"})
            decided += len(waiting)
        api("POST", f"{path}/state/", {"action": "close"})
        figures = api("GET", f"{path}/agreement/")["figures"]
        statistics = {each["statistic"]: each["value"] for each in figures}
        print(f"{batch['name']}: {submitted} responses, {decided} adjudicated, {statistics}")


def main(site: str, token: str, folder: str = "") -> None:
    """Run all steps on a site; print what is verified, with counts."""
    api, text = Api(site.rstrip("/"), token), STUDY.read_text(encoding="utf-8")
    slug, target = set_up(api, text), Path(folder or tempfile.mkdtemp())
    work(api, slug)
    api.apply(slug, text)  # the perturbations of accepted questions, which waited
    request = {"name": "1.0", "format": "askew", "allow_simulated": True}
    release = api("POST", f"projects/{slug}/releases/", request)
    api.wait(release["job"])
    archive = api.client.get(f"releases/{release['id']}/download/").raise_for_status().content
    with zipfile.ZipFile(io.BytesIO(archive)) as entries:
        entries.extractall(target)
    print(verify(target))


if __name__ == "__main__":
    main(*sys.argv[1:])
