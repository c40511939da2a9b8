"""`pressroom plugins check`: a sound plugin passes; each violation is reported with its location and fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import pytest
from pressroom.cli import plugin_types
from support.commands import Done, run_command
from support.databases import postgresql_url
from support.distributions import Built
from support.doc_examples import ROOT
from support.downloads import MYPY_CACHE

pytestmark = pytest.mark.timeout(600)  # a package is built in an isolated environment

TOOL = """
from pydantic import BaseModel, Field
from pressroom.sdk import *
import yaml

PLUGIN = Plugin(id="{id}", title="Broken", summary="For tests.")


class Params_(Params):
    url: str = Field(default="https://example.org/", description="What to fetch.")


class Page(BaseModel):
    size: int


@hookimpl
def pressroom_mcp_tools(plugin):
    @mcp_tool(name="{id}_size", title="Size", description="Returns how large a page is.", timeout=2)
    async def size(params: Params_, call: Call) -> Page:
        fetched = await plugin.services.fetcher.get(params.url, accept="*/*", max_bytes=1000, seconds=1)
        return Page(size=len(fetched.content))

    return [size]


@hookimpl
def pressroom_branding():
    return [Brander("{id}", lambda branding: 1 / 0)]
"""


def project(folder: Path, id_: str, module: str, *, dependencies: str = '"pressroom>=0.1"') -> Path:
    """Write the project of a single-module plugin that lacks what a complete one has."""
    package = folder / "src" / f"acme_{id_}"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "plugin.py").write_text(module.replace("{id}", id_))
    (folder / "pyproject.toml").write_text(
        f"""
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "acme-{id_}"
version = "1.0"
dependencies = [{dependencies}]

[project.entry-points."pressroom.plugins"]
{id_} = "acme_{id_}.plugin"

[tool.hatch.build.targets.wheel]
packages = ["src/acme_{id_}"]
"""
    )
    return folder


def check(*arguments: str | Path, cwd: Path | None = None, isolated: bool = False) -> Done:
    """Check the plugins given by the first argument and any other that is not an option.

    With `isolated`, packages are built in an isolated environment with its own build tools, which takes seconds.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    environment["MYPY_CACHE_DIR"] = str(MYPY_CACHE)
    if not isolated:
        environment["PIP_NO_BUILD_ISOLATION"] = "false"  # pip inverts this variable: false means no isolation
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
    path = Path(arguments[0])
    return run_command(
        ["plugins", "check", *map(str, arguments)], cwd=cwd or (path if path.is_dir() else path.parent), env=environment
    )


def stages(result: Done) -> dict[str, Any]:
    document = json.loads(result.stdout)
    assert document["ok"] is (result.returncode == 0), result.stderr
    return {stage["name"]: stage for stage in document["stages"]}


@pytest.fixture(scope="module")
def built_in(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Check all built-in plugins at once, each from its wheel."""
    config = tmp_path_factory.mktemp("built_in") / "pressroom.toml"
    config.write_text("[plugins.devto.config]\nwrite_interval = 0\n")
    wheels = [wheel for project, wheel in sorted(built.wheels.items()) if project.startswith("plugins/")]
    with postgresql_url() as url:
        return check(*wheels, "--json", "--postgresql", url, "--config", str(config), cwd=ROOT)


@pytest.mark.parametrize("plugin", sorted(path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml")))
def test_the_built_in_plugins_pass_every_check(plugin: str, built_in: Done) -> None:
    plugin_stages = [stage for stage in json.loads(built_in.stdout)["stages"] if stage["plugin"] == plugin]
    assert [finding for stage in plugin_stages for finding in stage["findings"]] == []
    assert {stage["name"] for stage in plugin_stages if stage["outcome"] == "ok"} >= {
        "package",
        "types",
        "contracts",
        "outages",
    }


LEAVING = """
import threading
from pressroom.sdk import *

PLUGIN = Plugin(id="leaving", title="Leaving", summary="For tests.")


@hookimpl
def pressroom_branding():
    threading.Thread(target=threading.Event().wait, name="forever").start()
    return []
"""


def test_a_thread_left_running_does_not_block_the_check(tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text(LEAVING)
    metadata = tmp_path / "leaving-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: leaving\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[pressroom.plugins]\nleaving = leaving\n")
    result = subprocess.run(
        [sys.executable, "-m", "pressroom.testing.check_process"],
        input=json.dumps({"plugins": ["leaving"], "config": {"builtin_plugins": False}, "postgresql": ""}),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert events[-1] == {"ended": True}, result.stderr
    assert {event["stage"] for event in events[:-1]} >= {"contracts", "outages"}
    assert result.returncode == 0


def test_a_plugin_may_need_another_one_that_is_checked_with_it(tmp_path: Path) -> None:
    first = project(tmp_path / "one", "lending", "NUMBER: int = 1\n")
    module = TOOL.replace("import yaml", "from acme_lending.plugin import NUMBER as NUMBER")
    second = project(tmp_path / "two", "borrowing", module, dependencies='"pressroom>=0.1", "acme-lending"')
    result = check(second, first, "--json")
    packages = [stage for stage in json.loads(result.stdout)["stages"] if stage["name"] == "package"]
    assert [stage["plugin"] for stage in packages] == ["borrowing", "lending"]
    promises = {finding["promise"] for stage in packages for finding in stage["findings"]}
    assert not promises & {"it can be built and installed", "it needs what it imports"}
    assert "No module named" not in result.stdout


def test_of_several_packages_the_one_that_fails_to_build_is_named(tmp_path: Path) -> None:
    sound, broken = project(tmp_path / "sound", "sound", TOOL), project(tmp_path / "broken", "broken", TOOL)
    (broken / "pyproject.toml").write_text("[project]\nname = 7\n")
    packages = json.loads(check(sound, broken, "--json").stdout)["stages"]
    assert [stage["name"] for stage in packages] == ["package", "package"]
    findings = [
        finding
        for stage in packages
        for finding in stage["findings"]
        if finding["promise"] == "it can be built and installed"
    ]
    assert [finding["where"] for finding in findings] == [str(broken)]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("broken")
    return check(project(folder, "broken_one", TOOL), "--json", "--junit", str(folder / "check.xml"), isolated=True)


@pytest.mark.parametrize(
    ("stage", "promise", "seen"),
    [
        ("package", "it says which versions of the server it works with", "pressroom>=0.1"),
        ("package", "it names its licence", "none"),
        ("package", "it is typed", "no py.typed"),
        ("package", "it needs what it imports", "pyyaml is imported"),
        ("types", "its types are right in mypy's strict mode", "acme_broken_one"),
        ("contracts", "it states its plugin API", ""),
        ("contracts", "", "ZeroDivisionError"),
        ("outages", "a call gets an explanation while nothing can be fetched", "internal_error"),
    ],
)
def test_a_broken_promise_is_reported_with_its_evidence_and_fix(
    broken: Done, stage: str, promise: str, seen: str
) -> None:
    assert broken.returncode == 1
    findings = stages(broken)[stage]["findings"]
    matching = [finding for finding in findings if promise in finding["promise"] and seen in finding["seen"]]
    assert matching, findings
    assert all(finding["promise"] and finding["where"] + finding["seen"] for finding in matching)
    if stage == "types":
        assert matching[0]["fix"] == "add an empty file py.typed to the package"


def test_people_and_ci_get_the_same_report_with_file_names_as_in_the_project(tmp_path: Path) -> None:
    """Mypy caches files of an earlier check, and reports files below the working directory by relative path."""
    package = project(tmp_path, "told", "def grate(seed): ...\nraise ValueError('nutmeg')")
    (package / "src" / "acme_told" / "py.typed").touch()
    for folder in (tmp_path, Path(tempfile.gettempdir())):
        result = check(package, "--junit", str(tmp_path / "check.xml"), cwd=folder)
        assert result.returncode == 1
        assert "it loads and starts" in result.stdout
        assert "nutmeg" in result.stdout
        assert f"{package}/src/acme_told/plugin.py:1: its types" in result.stdout
        report = ET.parse(tmp_path / "check.xml").getroot()
        messages = [failure.text or "" for failure in report.iter("failure")]
        assert int(report.attrib["failures"]) == len(messages)
        assert any("nutmeg" in text for text in messages)


@pytest.mark.parametrize(
    ("message", "fix"),
    [
        (
            'Skipping analyzing "barcode.writer": module is installed, but missing library stubs',
            '["barcode", "barcode.*"]',
        ),
        ('Library stubs not installed for "yaml"  [import-untyped]', '["yaml", "yaml.*"]'),
        ('Incompatible return value type (got "int", expected "str")', ""),
    ],
)
def test_a_library_without_types_is_reported_with_what_to_write(message: str, fix: str) -> None:
    advice = plugin_types.advice_on(message)
    assert fix in advice
    assert bool(advice) == bool(fix)


CRASHING = """
import os

from mypy.plugin import Plugin


class Crashing(Plugin):
    def get_function_hook(self, fullname):
        if fullname == "acme_{id}.plugin.one" and {when}:
            raise KeyError("nutmeg")
        return None


def plugin(version):
    return Crashing
"""


def test_a_mypy_crash_is_retried_without_its_cache_and_is_not_a_type_error(tmp_path: Path) -> None:
    packages = []
    for id_, when in (("cached", "self.options.cache_dir != os.devnull"), ("always", "True")):
        packages.append(project(tmp_path / id_, id_, "def one() -> int:\n    return 1\n\n\nNUMBER = one()\n"))
        (packages[-1] / "crash.py").write_text(CRASHING.replace("{id}", id_).replace("{when}", when))
        with (packages[-1] / "pyproject.toml").open("a") as file:
            file.write('\n[tool.mypy]\nstrict = true\nplugins = ["crash.py"]\n')
    result = check(*packages, "--json")
    document = json.loads(result.stdout)
    assert document["ok"] is (result.returncode == 0), result.stderr
    findings = {stage["plugin"]: stage["findings"] for stage in document["stages"] if stage["name"] == "types"}
    assert findings["cached"] == []
    (finding,) = findings["always"]
    assert finding["promise"] == "mypy can check its types"
    assert finding["where"].endswith("plugin.py:5")
    assert "--show-traceback" in finding["fix"]


def test_a_type_check_that_hangs_times_out(tmp_path: Path) -> None:
    package = project(tmp_path, "untypable", "NUMBER = 1\n")
    (tmp_path / "endless.py").write_text("import threading\nthreading.Event().wait(600)\n")
    with (package / "pyproject.toml").open("a") as file:
        file.write('\n[tool.mypy]\nstrict = true\nplugins = ["endless.py"]\n')
    (finding,) = stages(check(package, "--json", "--timeout", "40"))["types"]["findings"]
    assert finding["promise"] == "mypy can check its types"
    assert "--timeout" in finding["seen"]


def test_a_build_failure_shows_the_last_lines(tmp_path: Path) -> None:
    package = project(tmp_path, "unbuilt", TOOL)
    (package / "pyproject.toml").write_text("[project]\nname = 7\n")
    results = stages(check(package, "--json"))
    (finding,) = results["package"]["findings"]
    assert finding["promise"] == "it can be built and installed"
    assert "version" in finding["seen"]
    assert "contracts" not in results


def test_a_file_that_is_not_a_wheel_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken-1.0-py3-none-any.whl"
    for content in (b"not a zip", b"PK\x05\x06" + bytes(18)):
        broken.write_bytes(content)
        (finding,) = stages(check(broken, "--json"))["package"]["findings"]
        assert finding["promise"] == "it can be built and installed"
        assert finding["seen"] == f"{broken} is not a wheel"
    with ZipFile(broken, "w") as archive:
        archive.writestr("broken-1.0.dist-info/WHEEL", "")
    (finding,) = stages(check(broken, "--json"))["package"]["findings"]
    assert finding["seen"] == f"{broken} is not a wheel"


def test_a_plugin_that_hangs_times_out(tmp_path: Path) -> None:
    file = tmp_path / "endless.py"
    file.write_text("import ctypes\nctypes.PyDLL(None).sleep(600)\nPLUGIN = None\n")
    finding = stages(check(file, "--json", "--timeout", "10"))["contracts"]["findings"][-1]
    assert finding["seen"].startswith("not finished within --timeout")
    assert finding["fix"] == "raise --timeout, or see what it waits for"


def test_a_build_that_never_ends_is_cut_off(tmp_path: Path) -> None:
    package = project(tmp_path, "unbuildable", TOOL)
    (package / "endless.py").write_text("import threading\nthreading.Event().wait(600)\n")
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "endless"\nbackend-path = ["."]\n'
    )
    (finding,) = stages(check(package, "--json", "--timeout", "5"))["package"]["findings"]
    assert finding["promise"] == "it can be built and installed"
    assert str(package) in finding["seen"]
    assert finding["seen"].endswith("did not finish within --timeout")
    assert finding["fix"].startswith("raise --timeout, or run the command by hand")


def test_a_single_file_plugin_is_checked_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "shout.py"
    fetching = 'fetched = await plugin.services.fetcher.get(params.url, accept="*/*", max_bytes=1000, seconds=1)'
    module = TOOL.replace(fetching, "fetched = params").replace("fetched.content", "fetched.url")
    module = module.replace("import yaml\n", "").replace("1 / 0", "{}")
    file.write_text(module.replace('summary="For tests."', 'summary="For tests.", api="1"').replace("{id}", "shout"))
    result = check(file, "--json")
    assert [finding for stage in stages(result).values() for finding in stage["findings"]] == []


@pytest.mark.parametrize("text", ["PLUGIN = 1 / 0", "def broken(:"], ids=["fails", "is not Python"])
def test_the_fix_names_the_given_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "given.py"
    file.write_text(text)
    (finding,) = stages(check(file, "--json"))["contracts"]["findings"]
    assert "pressroom-check-" not in str(finding)
    assert f"correct {file}" in finding["fix"] or f"correct given.py in {tmp_path}," in finding["fix"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://nobody@127.0.0.1:1/postgres", "--postgresql: "),
        ("mysql://nobody@127.0.0.1/mysql", "give a URL such as postgresql://"),
    ],
)
def test_a_server_that_cannot_be_used_is_reported_before_anything_is_built(
    tmp_path: Path, url: str, expected: str
) -> None:
    result = check(tmp_path, "--postgresql", url)
    assert result.returncode == 1
    assert expected in result.stderr
    assert "package" not in result.stdout
