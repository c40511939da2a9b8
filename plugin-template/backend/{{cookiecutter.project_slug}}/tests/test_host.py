"""Tests of the backend in a running server."""

import httpx
from pressroom.testing import RunningHost

from {{ cookiecutter.package }}.index import MemoryIndex


def test_the_server_uses_it(host: RunningHost) -> None:
    assert isinstance(host.host.services.cache, MemoryIndex)


def test_the_server_is_ready(http: httpx.Client) -> None:
    assert http.get("/readyz").status_code == 200
