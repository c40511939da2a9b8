"""Neither installation order nor chance decides a plugin's status."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom.plugins.contributions import describe
from pressroom.plugins.discovery import PluginRecord, discover
from pressroom.plugins.load import load_plugins
from pressroom.testing.plugin import settings_for_test
from support.installing import on_path
from support.plugin_distributions import BROKEN, Distribution, healthy
from support.plugin_source import needing
from support.sizes import examples


def whole_site(site: Path) -> Distribution:
    """Install all broken plugins, and some that work."""
    installed = [factory(site) for factory in BROKEN.values()]
    installed += [
        healthy(site),
        healthy(site, "hale"),
        needing(site, "needy", "hale"),
        needing(site, "lost", "bad_slug"),
    ]
    return Distribution(site, {id_: table for distribution in installed for id_, table in distribution.plugins.items()})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    return whole_site(tmp_path_factory.mktemp("site"))


Outcome = tuple[list[PluginRecord], list[str]]


def test_the_order_of_distributions_does_not_matter(site: Distribution, tmp_path: Path) -> None:
    configuration = settings_for_test({"plugins": site.plugins}, tmp_path)

    def load(order: random.Random | None) -> Outcome:
        candidates = list(discover())
        if order is not None:
            order.shuffle(candidates)
        loaded = load_plugins(configuration, candidates=candidates)
        contributed = [
            f"{contribution.plugin}: {describe(contribution.record)}"
            for contribution in loaded.contributions.of(object)
        ]
        return [replace(record, import_seconds=0) for record in loaded.records], contributed

    with on_path(site.folder):
        expected = load(None)

        @settings(max_examples=examples(5))
        @given(seed=st.integers(0, 2**32))
        def compare(seed: int) -> None:
            assert load(random.Random(seed)) == expected

        compare()


def test_the_path_order_and_the_hash_seed_do_not_matter(tmp_path: Path) -> None:
    folders = a, b, c = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    names = iter(sorted(BROKEN))
    installed = [BROKEN[name](folders[number % 3]) for number, name in enumerate(names)]
    installed.append(healthy(folders[1]))
    tables = {id_: table for distribution in installed for id_, table in distribution.plugins.items()}
    config = {"plugins": tables, "storage": {"path": str(tmp_path / "data")}}
    outcomes = [
        load_in_process(config, {"PYTHONPATH": os.pathsep.join(map(str, order)), "PYTHONHASHSEED": str(seed)})
        for seed, order in enumerate(((a, b, c), (b, c, a), (c, a, b)))
    ]
    assert {"healthy", "qr-code-generator"} <= set(outcomes[0]["tools"])
    assert len(outcomes[0]["records"]) > len(BROKEN)
    for outcome in outcomes[1:]:
        assert outcome == outcomes[0]


def load_in_process(config: Mapping[str, object], environment: dict[str, str]) -> dict[str, list[object]]:
    """Compile a host in a new process; return its tools and its records."""
    code = """
import dataclasses, json, sys
from pressroom.config import Settings
from pressroom.host.loaded_app import LoadedApp
compiled = LoadedApp(Settings.model_validate(json.load(sys.stdin)))
records = [dataclasses.asdict(dataclasses.replace(one, import_seconds=0)) for one in compiled.plugins.records]
print(json.dumps({"tools": list(compiled.catalog.tools), "records": records}))
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(config),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded: dict[str, list[object]] = json.loads(result.stdout)
    return loaded
