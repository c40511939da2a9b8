"""Broken plugins: only the faulty one is removed, and its record states the error and how to fix it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from pressroom.gate.failures import MAX_ERROR_LENGTH
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.discovery import PluginRecord
from support.compiling import Compile
from support.faults import imports
from support.plugin_distributions import BROKEN, Expected, healthy


def records_of(compiled: LoadedApp, id_: str) -> list[PluginRecord]:
    return [record for record in compiled.plugins.records if record.id == id_]


def assert_reported(compiled: LoadedApp, expected: Iterable[Expected]) -> None:
    """Check that each expected failure has a matching record."""
    remaining = {id_: records_of(compiled, id_) for id_ in {expectation.id for expectation in expected}}
    for expectation in expected:
        record = remaining[expectation.id].pop(0)
        assert (record.status, record.phase) == (expectation.status, expectation.phase), record
        assert [word for word in expectation.error if word not in record.error] == [], record.error
        assert [word for word in expectation.hint if word not in record.hint] == [], record.hint
        assert record.error.isprintable()
        assert len(record.error) <= MAX_ERROR_LENGTH
        assert record.contributes == ()
    assert not any(remaining.values())


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_removed_alone_and_completely(name: str, tmp_path: Path, compile_with: Compile) -> None:
    broken = BROKEN[name](tmp_path / "site")
    compiled = compile_with(broken, healthy(tmp_path / "site"))
    assert_reported(compiled, broken.expected)
    assert {record.id for record in compiled.plugins.failed} == {expectation.id for expectation in broken.expected}
    assert sorted(compiled.catalog.plans["anonymous"].tools) == ["healthy", "qr-code-generator"]
    contributors = {contribution.plugin for contribution in compiled.plugins.contributions.of(object)}
    assert contributors == {"pressroom", "healthy", "qr_code_generator"}


@pytest.mark.parametrize("name", imports.FAULTS)
def test_only_modules_of_a_failed_import_are_removed(name: str, tmp_path: Path, compile_with: Compile) -> None:
    broken = imports.FAULTS[name](tmp_path / "site")
    compile_with(broken)
    remaining = {module.partition(".")[0] for module in sys.modules} & set(broken.packages)
    # By the time the configuration fails, another plugin of the same package may be using its modules.
    assert remaining == (set(broken.packages) if broken.expected[0].phase == "config" else set())


def test_all_broken_plugins_together_are_distinguished(tmp_path: Path, compile_with: Compile) -> None:
    installed = [factory(tmp_path / "site") for factory in BROKEN.values()]
    compiled = compile_with(*installed, healthy(tmp_path / "site"))
    assert sorted(compiled.catalog.tools) == ["healthy", "qr-code-generator"]
    for broken in installed:
        assert_reported(compiled, broken.expected)
