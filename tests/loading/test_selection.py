"""Selection: which installed plugins are loaded; the others are never imported."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pressroom.plugins.discovery import PluginRecord
from pressroom.plugins.load import load_plugins
from pressroom.testing.plugin import settings_for_test
from support.commands import run_command
from support.compiling import Compile, records_of
from support.installing import build_wheel, install, on_path
from support.needs import unavailable
from support.plugin_distributions import Distribution, healthy
from support.plugin_source import SOUND, filled, install_plugin


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


def marked(site: Path, id_: str, **options: Any) -> tuple[Distribution, Path]:
    """Install a plugin that creates a file when it is imported."""
    marker = site / f"{id_}-was-imported"
    return install_plugin(site, id_, f"open({str(marker)!r}, 'w').close()\n{SOUND}", **options), marker


def of(records: tuple[PluginRecord, ...], id_: str) -> list[PluginRecord]:
    return [record for record in records if record.id == id_]


def test_an_unconfigured_plugin_is_available_and_never_imported(site: Path, compile_with: Compile) -> None:
    installed, marker = marked(site, "quiet")
    compiled = compile_with(installed, plugins={"quiet": None})
    (record,) = of(compiled.plugins.records, "quiet")
    assert (record.status, record.error, record.import_seconds, record.title) == ("available", "", 0, "")
    assert (record.distribution, record.version, record.module) == ("acme-quiet", "1.0", "acme_quiet.plugin")
    assert not marker.exists()
    assert "acme_quiet" not in sys.modules
    assert compiled.plugins.failed == ()


def test_a_disabled_plugin_is_never_imported(site: Path, compile_with: Compile) -> None:
    installed, marker = marked(site, "quiet")
    compiled = compile_with(installed, plugins={"quiet": {"enabled": False, "config": {"no": "matter"}}})
    (record,) = of(compiled.plugins.records, "quiet")
    assert (record.status, record.failed, record.import_seconds) == ("disabled", False, 0)
    assert not marker.exists()


def test_the_marker_would_reveal_an_import(site: Path, compile_with: Compile) -> None:
    installed, marker = marked(site, "loud")
    compile_with(installed)
    assert marker.exists()


def test_no_command_imports_an_unconfigured_plugin(site: Path, tmp_path: Path) -> None:
    _, marker = marked(site, "quiet")
    for command in (["plugins", "list"], ["plugins", "show", "quiet"], ["doctor"], ["catalog"], ["x", "--help"]):
        variables = {"PYTHONPATH": str(site), "PRESSROOM_STORAGE__PATH": str(tmp_path / "data")}
        result = run_command(command, cwd=tmp_path, env=variables)
        assert result.returncode == 0, result.stderr
        assert result.stdout
    assert not marker.exists()


def test_built_in_plugins_are_enabled_until_disabled(compile_with: Compile) -> None:
    def status(**config: Any) -> str:
        return of(compile_with(**config).plugins.records, "qr_code_generator")[0].status

    assert status() == "active"
    assert status(builtin_plugins=False) == "available"
    assert status(builtin_plugins=False, plugins={"qr_code_generator": {}}) == "active"
    assert status(plugins={"qr_code_generator": {"enabled": False}}) == "disabled"


def test_a_required_plugin_is_marked_whatever_its_status(site: Path, compile_with: Compile) -> None:
    installed = healthy(site)
    compiled = compile_with(installed, plugins={"healthy": {"required": True}, "gone": {"required": True}})
    assert {record.id: (record.required, record.status) for record in records_of(compiled)} == {
        "healthy": (True, "active"),
        "gone": (True, "broken"),
        "qr_code_generator": (False, "active"),
    }


def test_a_disabled_plugin_need_not_be_installed(compile_with: Compile) -> None:
    compiled = compile_with(plugins={"gone": {"enabled": False}})
    (record,) = of(compiled.plugins.records, "gone")
    assert (record.status, record.error) == ("disabled", "")


@pytest.mark.parametrize("spelling", ["zeta-second", "Zeta_Second", "zeta.second"])
def test_the_configuration_selects_one_of_two_distributions(site: Path, spelling: str, compile_with: Compile) -> None:
    first, first_marker = marked(site, "twofold", name="acme-first")
    marker = site / "second-was-imported"
    module = f"open({str(marker)!r}, 'w').close()\n{SOUND}"
    second = install_plugin(site, "twofold", module, name="zeta-second")
    compiled = compile_with(first, second, plugins={"twofold": {"distribution": spelling}})
    records = of(compiled.plugins.records, "twofold")
    assert [(record.distribution, record.status) for record in records] == [
        ("acme-first", "available"),
        ("zeta-second", "active"),
    ]
    assert marker.exists()
    assert not first_marker.exists()


def test_an_unconfigured_rival_does_not_affect_a_built_in_plugin(site: Path, compile_with: Compile) -> None:
    rival, marker = marked(site, "qr_code_generator")
    compiled = compile_with(rival, plugins={"qr_code_generator": None})
    records = of(compiled.plugins.records, "qr_code_generator")
    assert [(record.distribution, record.status) for record in records] == [
        ("acme-qr-code-generator", "available"),
        ("pressroom-qr-code-generator", "active"),
    ]
    assert "qr-code-generator" in compiled.catalog.tools
    assert not marker.exists()


def test_once_it_is_named_a_rival_must_be_distinguished_from_the_built_in_plugin(
    site: Path, compile_with: Compile
) -> None:
    rival, marker = marked(site, "qr_code_generator")
    records = of(compile_with(rival).plugins.records, "qr_code_generator")
    assert [record.status for record in records] == ["conflict", "conflict"]
    assert not marker.exists()
    picked = {"qr_code_generator": {"distribution": "acme-qr-code-generator"}}
    records = of(compile_with(rival, plugins=picked).plugins.records, "qr_code_generator")
    assert [record.status for record in records] == ["active", "available"]


def test_an_id_that_cannot_be_configured_is_reported(site: Path, compile_with: Compile) -> None:
    install(site, "acme-shouting", {}, {"Shouting-Id": "acme_shouting"})
    compiled = compile_with(Distribution(site, {}))
    (record,) = of(compiled.plugins.records, "Shouting-Id")
    assert (record.status, record.failed) == ("available", False)
    assert "must be 2 to 32 lower-case letters" in record.error
    assert record.hint == "tell the plugin's authors"


def test_a_misspelt_id_gets_no_suggestion_that_cannot_be_configured(site: Path, compile_with: Compile) -> None:
    install(site, "acme-shouting", {}, {"Shouting-Id": "acme_shouting"})
    compiled = compile_with(Distribution(site, {"shouting_id": {}}))
    (record,) = of(compiled.plugins.records, "shouting_id")
    assert "did you mean" not in record.hint


def test_the_first_of_two_copies_of_a_distribution_on_the_path_is_used(tmp_path: Path, compile_with: Compile) -> None:
    files = {"acme_twice.py": filled(SOUND, "twice")}
    install(tmp_path / "new", "acme-twice", files, {"twice": "acme_twice"}, version="2.0")
    install(tmp_path / "old", "Acme.Twice", files, {"twice": "acme_twice", "dropped": "acme_twice"}, version="1.0")
    new, old = Distribution(tmp_path / "new", {"twice": {}}), Distribution(tmp_path / "old", {})
    compiled = compile_with(new, old)
    ours = [record for record in records_of(compiled) if not record.builtin]
    assert [(record.id, record.version, record.status) for record in ours] == [("twice", "2.0", "active")]


def test_a_first_copy_without_plugins_hides_an_older_one_with_some(tmp_path: Path, compile_with: Compile) -> None:
    files = {"acme_gone.py": filled(SOUND, "gone")}
    install(tmp_path / "new", "acme-gone", {"acme_gone.py": ""}, {}, version="2.0")
    install(tmp_path / "old", "acme-gone", files, {"gone": "acme_gone"}, version="1.0")
    new, old = Distribution(tmp_path / "new", {}), Distribution(tmp_path / "old", {"gone": {}})
    (record,) = of(compile_with(new, old).plugins.records, "gone")
    assert (record.status, record.error) == ("broken", "the configuration names it, but no installed package offers it")


@pytest.mark.parametrize(
    "entry_points",
    [b"\xff\xfe\x00", b"[pressroom.plugins]\nno equals sign\n", b"[console_scripts]\nx\n", b"[" * 10_000],
)
def test_damaged_metadata_of_another_package_does_not_matter(
    site: Path, entry_points: bytes, compile_with: Compile
) -> None:
    metadata = install(site, "acme-stranger", {}, {})
    (metadata / "entry_points.txt").write_bytes(entry_points)
    (metadata / "METADATA").write_bytes(b"\xff")
    compiled = compile_with(healthy(site))
    assert [record.id for record in records_of(compiled)] == ["healthy", "qr_code_generator"]
    assert compiled.plugins.failed == ()


def test_an_entry_point_may_name_the_declaration_and_extras(site: Path, compile_with: Compile) -> None:
    module = filled(SOUND, "elsewhere").replace("PLUGIN =", "DECLARATION =")
    install(site, "acme-elsewhere", {"acme_elsewhere.py": module}, {"elsewhere": "acme_elsewhere : DECLARATION [fast]"})
    compiled = compile_with(Distribution(site, {"elsewhere": {}}))
    (record,) = of(compiled.plugins.records, "elsewhere")
    assert (record.status, record.module) == ("active", "acme_elsewhere:DECLARATION")


@pytest.mark.parametrize(
    "requires", ["pressroom", "pressroom>=0.0.1", "pressroom>=99; extra == 'test'", "not valid !!"]
)
def test_a_requirement_that_this_host_meets_is_accepted(site: Path, requires: str, compile_with: Compile) -> None:
    compiled = compile_with(install_plugin(site, "modest", requires=(requires,)))
    assert of(compiled.plugins.records, "modest")[0].status == "active"


def test_a_plugin_installed_by_a_real_installer_is_found(tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        unavailable("uv is not installed beside Python")
    files = {"acme_wheel/__init__.py": "", "acme_wheel/plugin.py": filled(SOUND, "wheel")}
    wheel = build_wheel(tmp_path, "acme-wheel", files, {"wheel": "acme_wheel.plugin"})
    by_uv, by_us = tmp_path / "uv", tmp_path / "ours"
    subprocess.run(
        [uv, "pip", "install", "--offline", "--no-deps", "--python", sys.executable, "--target", by_uv, wheel],
        check=True,
        capture_output=True,
    )
    install(by_us, "acme-wheel", files, {"wheel": "acme_wheel.plugin"})
    settings = settings_for_test({"plugins": {"wheel": {}}}, tmp_path / "data")
    records = []
    for folder in (by_uv, by_us):
        with on_path(folder):
            (record,) = of(load_plugins(settings).records, "wheel")
            assert sys.modules["acme_wheel"].__file__ == str(folder / "acme_wheel" / "__init__.py")
        records.append(replace(record, import_seconds=0))
    assert records[0] == records[1]
    assert records[0].status == "active"
