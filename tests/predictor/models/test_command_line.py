"""Every architecture through the command line alone: train, save, serve over HTTP, answer."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from predictor.architectures import info, load, never_stop
from predictor.protocol import Prediction, PredictRequest
from tests.predictor.models.eight import eight, spare
from tests.predictor.models.releases import release
from tests.predictor.models.test_finetune import INITIAL
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("deep_learning")

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def train(*arguments: str) -> str:
    """What `./run train` runs once its packages are installed; what it printed."""
    finished = subprocess.run(
        [sys.executable, "-m", "predictor.training", *arguments],
        env=ENVIRONMENT,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_every_architecture_is_trained_served_and_answers(test_data: Path, tmp_path: Path) -> None:
    data = release(tmp_path / "data", eight())
    validation = release(tmp_path / "validation", [spare()])
    options = ["--format", "askew", "--data", str(data), "--validation", str(validation)]
    folders = []
    for name in ("tapex", "omnitab", "tapas", "tabert3"):
        init, out = tmp_path / f"small-{name}", tmp_path / name
        init.mkdir()
        INITIAL["tapex" if name == "omnitab" else name][0](init, test_data)
        architecture = name.rstrip("3")
        printed = train(
            *("--architecture", architecture, "--init", str(init), "--out", str(out), *options),
            *("--epochs", "4", "--batch", "8", "--accumulation", "1", "--rate", "3e-3", "--beams", "2"),
        )
        assert "expected memory" in printed
        assert "step 4 of 4" in printed
        folders.append(out)
    port = free_port()
    models = [word for folder in folders for word in ("--model", str(folder))]
    server = subprocess.Popen(
        [sys.executable, "-m", "predictor.server", *models, "--port", str(port), "--quiet"],
        env=ENVIRONMENT,
        cwd=ROOT,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            wait_until(lambda: is_ready(client), "the server is ready", seconds=300)
            for folder in folders:
                model = load(folder)
                for example in eight()[:3]:
                    request = PredictRequest.about(example)
                    response = client.post(
                        "/v1/predict",
                        json=request.to_dict() | {"model": model.name, "deadline_ms": 30_000},
                    )
                    assert response.status_code == 200, response.text
                    served = Prediction.from_dict(response.json(), example.table.shape)
                    (expected,) = model.predict_batch([request], never_stop)
                    assert isinstance(expected, Prediction)
                    assert (served.answers, served.cells) == (expected.answers, expected.cells)
                    assert served.model == info(model).id
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def test_a_download_names_what_failed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    import huggingface_hub

    from predictor.training.__main__ import main

    calls: list[tuple[str, str | None, Path]] = []

    def fetch(name: str, *, revision: str | None, local_dir: Path, ignore_patterns: list[str]) -> None:
        calls.append((name, revision, local_dir))
        if "/" not in name:
            raise ValueError("no such model")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(huggingface_hub, "snapshot_download", fetch)
        assert main(["--download", "microsoft/tapex-large", "--out", str(tmp_path)]) == 0
        assert main(["--download", "microsoft/tapex-large@5f2c1d", "--out", str(tmp_path)]) == 0
        assert main(["--download", "tapex", "--out", str(tmp_path)]) == 1
    assert calls[:2] == [
        ("microsoft/tapex-large", None, tmp_path),
        ("microsoft/tapex-large", "5f2c1d", tmp_path),
    ]
    assert "tapex could not be downloaded: no such model" in capsys.readouterr().err
