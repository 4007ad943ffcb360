import pytest
from django.test import Client

from tests.annotation.cast import make_world


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "x", "format": "askew", "mix": "Inf"}',
        b'{"name":"x","format":"askew","mix":Infinity}',
        b'{"name":"x","format":"askew","mix":1e999}',
        b'{"name":"Inf","format":"askew","waivers":{"a":NaN}}',
        b'{"name":"Inf","format":"askew","allow_simulated":"Inf"}',
        b'{"name":"Inf","format":"askew","allow_simulated":Infinity}',
        b'{"name":"Inf","format":"askew","purpose":Infinity}',
        b'{"name":"Inf","format":"askew","mix":"-Infinity"}',
        b'{"name":"x","format":"Inf"}',
    ],
)
def test_it(tmp_path, body):
    world = make_world(tmp_path)
    c = Client(raise_request_exception=False)
    c.force_login(world.rea)
    a = c.post("/api/projects/films/releases/", body, content_type="application/json")
    print(a.status_code, a.content[:300])
    assert a.status_code < 500
