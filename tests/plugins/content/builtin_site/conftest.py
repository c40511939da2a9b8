"""A server for tests of built-in sites."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test

from ..conftest import CONFIG  # noqa: TID252 - the configuration of the whole plugin


@pytest.fixture(scope="package")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test(CONFIG, tmp_path_factory.mktemp("builtin"))) as running:
        yield running
