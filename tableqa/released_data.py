"""A release as pandas data frames.

release = Release.load("starter-0.1")
release.verify()      # checksums, references, counts, replayed edits; raises a Difference
release.examples      # question, answers, table (a `Table`), perturbation, ...
release.responses     # every response of every annotator
agreement(release.ratings("b4hzpp46se6z"), item="item", rater="annotator", label="response.data.label")
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tableqa.core.canonical_json import file_digest, thaw
from tableqa.core.json_text import read_json
from tableqa.readers import READERS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Release:
    """A release folder. Frames are read on first use, their files compared with the checksums of the manifest."""

    folder: Path
    manifest: dict[str, Any]

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read the manifest of a release folder. FileNotFoundError, or ValueError if it is not one of a release."""
        folder = Path(path)
        if folder.suffix == ".zip":
            raise ValueError(f"{folder} is an archive. Unpack it and name its folder.")
        manifest = read_json((folder / "manifest.json").read_text("utf-8"))
        if not isinstance(manifest, dict) or "layout" not in manifest or "files" not in manifest:
            raise ValueError(f"{folder / 'manifest.json'} is not the manifest of a release of Askew.")
        return cls(folder, manifest)

    def verify(self, key: str | Path = "") -> dict[str, int]:
        """Compare the release with its records (`tableqa.releases.verification.verify`). Raises `Difference`.

        key: the fingerprint of a site, or a file with its public keys (PEM): the release must be signed by this site.
        """
        from tableqa.releases.signatures import check_signature, trusted_fingerprints
        from tableqa.releases.verification import verify

        checked = verify(self.folder)
        if key:
            check_signature(self.folder, self.manifest, trusted_fingerprints(key), required=True)
        return checked

    @cached_property
    def examples(self) -> pd.DataFrame:
        """Originals and perturbed examples, one per row.

        Columns: `source`, `id`, `question`, `answers` (a list), `table` (a `Table`), and of perturbed ones `parent`,
        `perturbation`, `seed`, `operations`. Those that the release leaves out are not included. Raises
        `tableqa.readers.interface.ReaderError`.
        """
        import pandas as pd

        records = self._records("sources.jsonl")
        originals = records[records["kind"] == "example"].drop_duplicates("id").set_index("id")["source"]
        rows = []
        for example in READERS["askew"](self.folder / "manifest.json"):
            lineage = thaw(example.meta).get("lineage", {})
            fields = {name: lineage.get(name) for name in ("parent", "perturbation", "seed", "operations")}
            content = {"question": example.question, "answers": list(example.answers), "table": example.table}
            rows.append(
                {
                    "source": lineage.get("source") or originals[example.id],
                    "id": example.id,
                    **content,
                    **fields,
                }
            )
        return pd.DataFrame(rows).astype({"seed": "Int64"})

    @cached_property
    def responses(self) -> pd.DataFrame:
        """Every revision of every response, one per row; nested fields are columns such as `response.data.label`.

        `in_agreement` is true for the responses that agreement is computed from: the newest of each person on a planned
        slot, or the one that an adjudicator sent back.
        """
        frame = self._records("annotations.jsonl")
        if "response.type" not in frame:
            return frame.reindex(columns=frame.columns.union(["batch"])).assign(in_agreement=False)
        is_blind = frame["response.type"].notna() & ~frame["place.added"].astype(bool)
        if "sent_back" in frame:
            is_blind &= frame["sent_back"].isna()
        key = ["batch", "item", "annotator"]
        ordered = frame.sort_values("revision", kind="stable")
        last = ordered[is_blind.loc[ordered.index]].drop_duplicates(key, keep="last").index
        current = frame[frame["newest"].astype(bool) & frame["response.type"].notna()]
        is_current = frame.set_index(key).index.isin(current.set_index(key).index)
        frame["in_agreement"] = frame.index.isin(last) & is_current
        return frame

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """The decisions, one per row; `outcomes` is a list of dicts."""
        return self._records("decisions.jsonl")

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """The agreement figures of the manifest: one per batch, measure and statistic."""
        import pandas as pd

        return pd.DataFrame(self.manifest["agreement"])

    def ratings(self, batch: str) -> pd.DataFrame:
        """The responses that agreement of a batch is computed from, without columns of other task types. KeyError."""
        if batch not in {entry["id"] for entry in self.manifest["batches"]}:
            raise KeyError(f"there is no batch {batch!r} in this release; see release.manifest['batches']")
        frame = self.responses
        return frame[(frame["batch"] == batch) & frame["in_agreement"]].dropna(axis="columns", how="all")

    def _records(self, name: str) -> pd.DataFrame:
        import pandas as pd

        path = self.folder / name
        if file_digest(path) != self.manifest["files"][name]["sha256"]:
            raise ValueError(f"{path} is not the file that the manifest describes. Fetch the release again.")
        with path.open(encoding="utf-8") as lines:
            return pd.json_normalize([read_json(line) for line in lines], max_level=2)
