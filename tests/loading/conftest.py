from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins import load
from pressroom.plugins.discovery import Candidate, discover
from pressroom.testing.plugin import settings_for_test
from support.compiling import Compile
from support.installing import on_path
from support.plugin_distributions import Distribution


@pytest.fixture(scope="session", autouse=True)
def _installed() -> frozenset[str]:
    """Return the plugin distributions installed before any test or module fixture adds its own."""
    return frozenset(candidate.distribution for candidate in discover())


@pytest.fixture(autouse=True)
def only_one_builtin_plugin(_installed: frozenset[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide all installed plugins but one, so that the tests list only their own."""
    hidden = _installed - {"pressroom-qr-code-generator"}

    def without_hidden() -> tuple[Candidate, ...]:
        return tuple(candidate for candidate in discover() if candidate.distribution not in hidden)

    monkeypatch.setattr(load, "discover", without_hidden)


@pytest.fixture
def compile_with(tmp_path: Path) -> Iterator[Compile]:
    """Return a function that compiles a host which finds the distributions, in order, and enables their plugins.

    `plugins` are `[plugins]` tables that replace those of the distributions, by ID; `None` leaves a plugin out of
    the configuration.
    """
    with ExitStack() as stack:

        def compile_(
            *distributions: Distribution, plugins: Mapping[str, Any] | None = None, **config: Any
        ) -> LoadedApp:
            stack.enter_context(on_path(*dict.fromkeys(distribution.folder for distribution in distributions)))
            all_tables = {
                id_: table for distribution in distributions for id_, table in distribution.plugins.items()
            } | dict(plugins or {})
            tables = {id_: table for id_, table in all_tables.items() if table is not None}
            return LoadedApp(settings_for_test({"plugins": tables, **config}, tmp_path / "data"))

        yield compile_
