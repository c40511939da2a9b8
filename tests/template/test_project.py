"""The template's project: its checks pass, its wheel works with the host, and its README is correct."""

from __future__ import annotations

import json
import re
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
import yaml
from pressroom.cli.scaffolding import render_template
from support.databases import postgresql_url
from support.distributions import Built, Environment, copy_repository, run
from support.needs import program

BADGE = {"label": "build", "value": "passing & <fine>"}


pytestmark = pytest.mark.timeout(600)  # the first test installs everything with a cold cache


def ci_commands() -> list[str]:
    """Return the commands that the template's CI runs after installation."""
    with tempfile.TemporaryDirectory() as folder:
        return commands_of(render_template("my-tool", Path(folder)))


def commands_of(project: Path) -> list[str]:
    """Return the commands that a project's CI runs after installation, without the build."""
    return [command for command in steps(project) if "pip install" not in command and "-m build" not in command]


def steps(project: Path) -> list[str]:
    """Return all commands of a project's CI."""
    (job,) = yaml.safe_load((project / ".github/workflows/ci.yml").read_text())["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    """Yield the URL of an empty database, on which `plugins check` also tests plugins."""
    with postgresql_url() as url:
        yield url


def assert_every_promise_is_kept(output: str, project: Path, *, tables: bool = False) -> None:
    """Assert that `plugins check` reports success, in its output and in its JUnit report for CI services."""
    assert "All checks passed." in output
    passed = set(re.findall(r"^ok +(\S+)", output, re.MULTILINE))
    assert passed >= {"package", "types", "contracts", "outages", *(["PostgreSQL"] if tables else [])}
    assert ET.parse(project / "check.xml").getroot().attrib["failures"] == "0"


@pytest.mark.parametrize("command", ci_commands())
def test_the_ci_of_the_project_passes(workshop: Environment, project: Path, postgresql: str, command: str) -> None:
    result = workshop.run_tool(*command.split(), cwd=project, PRESSROOM_CHECK_POSTGRESQL=postgresql)
    if command == "pytest":
        assert re.search(r"\b\d\d passed", result.stdout)
        assert not re.search("failed|skipped|warning", result.stdout)
    if " plugins check " in command:
        assert_every_promise_is_kept(result.stdout, project)


@pytest.mark.parametrize("kind", ["tools", "connector", "backend"])
def test_the_ci_of_every_other_kind_passes(workshop: Environment, tmp_path: Path, postgresql: str, kind: str) -> None:
    workshop.pressroom("new", f"a-{kind}", "--kind", kind, "--into", tmp_path)
    folder = tmp_path / f"pressroom-a-{kind}"
    workshop.install("--no-build-isolation", "--editable", f"{folder}[test,lint]")
    # The environment variables that its CI sets are set for every step.
    source = "git+https://example.org/pressroom"
    run_step = partial(workshop.run_tool, cwd=folder, PRESSROOM_SOURCE=source, PRESSROOM_CHECK_POSTGRESQL=postgresql)
    outputs = {command: run_step(*command.split()).stdout for command in commands_of(folder)}
    assert any("migrations check" in command for command in outputs) == (kind == "tools")
    assert re.search(r"\b\d passed", outputs["pytest"])
    assert not re.search("failed|skipped|warning", outputs["pytest"])
    (output,) = (text for command, text in outputs.items() if " plugins check " in command)
    assert_every_promise_is_kept(output, folder, tables=kind == "tools")


@contextmanager
def over_http(folder: Path) -> Iterator[str]:
    """Serve the files of a folder over HTTP inside the block; yield the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_ci_installs_the_server_from_its_repository(
    built: Built, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    git, repository = program("git"), copy_repository(tmp_path / "pressroom")
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    commit_it = (*identity, "commit", "--quiet", "-m", "first")
    # In a pack, since git would fetch each loose object with a request of its own.
    packed = ("repack", "--quiet", "-a", "-d", "--window=0")
    for arguments in (("init", "--quiet"), ("add", "."), commit_it, packed, ("update-server-info",)):
        run([git, *arguments], repository)
    environment = Environment(tmp_path_factory.mktemp("ci"), with_pip=True)
    environment.install(f"{built.wheels['core']}[template,testing]", built.wheels["plugins/content"], "hatchling")
    environment.pressroom("new", "a-connector", "--kind", "connector", "--into", tmp_path)
    command = next(step for step in steps(tmp_path / "pressroom-a-connector") if "PRESSROOM_SOURCE" in step)
    # Everything else is already installed, so no package index is needed.
    offline = "PIP_NO_DEPS=1 PIP_NO_BUILD_ISOLATION=0 PIP_NO_INDEX=1 PIP_FORCE_REINSTALL=1 PIP_NO_COMPILE=1"
    with over_http(tmp_path) as url:
        source = f"git+{url}/pressroom/.git"
        environment.run_tool("env", *offline.split(), "bash", "-c", command, PRESSROOM_SOURCE=source)
    environment.pressroom("new", "another", "--into", tmp_path)
    workflow = yaml.safe_load((tmp_path / "pressroom-another/.github/workflows/ci.yml").read_text())
    commit = run([git, "rev-parse", "HEAD"], repository).stdout.strip()
    assert workflow["env"]["PRESSROOM_SOURCE"] == f"{source}@{commit}"


def test_the_ci_checks_format_style_types_and_behaviour() -> None:
    check = "pressroom plugins check . --junit check.xml"
    assert ci_commands() == ["ruff format --check .", "ruff check .", "mypy", "pytest", check]


def test_the_wheel_is_complete(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    package = {name for name in names if ".dist-info/" not in name}
    assert package == {
        f"pressroom_my_tool/{name}" for name in ("__init__.py", "params.py", "plugin.py", "py.typed", "render.py")
    }
    assert "pressroom_my_tool-0.1.0.dist-info/licenses/LICENSE" in names


def listed(operator: Environment, folder: Path) -> dict[str, dict[str, Any]]:
    records = json.loads(operator.pressroom("plugins", "list", "--json", cwd=folder).stdout)
    return {record["id"]: record for record in records}


def test_an_installed_plugin_that_is_not_enabled_is_available_but_not_imported(
    operator: Environment, tmp_path: Path
) -> None:
    record = listed(operator, tmp_path)["my_tool"]
    assert (record["status"], record["import_seconds"]) == ("available", 0)
    code = (
        "import sys; from pressroom.cli import main; main(['plugins', 'list', '--json']); "
        "sys.exit('pressroom_my_tool' in {name.partition('.')[0] for name in sys.modules})"
    )
    operator.run_tool(operator.bin / "python", "-c", code, cwd=tmp_path)


def test_an_enabled_plugin_is_active(operator: Environment, project: Path) -> None:
    record = listed(operator, project)["my_tool"]
    assert (record["status"], record["distribution"], record["version"]) == ("active", "pressroom-my-tool", "0.1.0")
    assert record["contributes"] == ["generator my-tool", "tool my_tool_measure"]
    assert operator.pressroom("doctor", cwd=project, check=False).returncode == 0


@pytest.fixture(scope="module")
def url(operator: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the operator's server, whose configuration is the one in the project's README."""
    config = tmp_path_factory.mktemp("config") / "pressroom.toml"
    config.write_text('[plugins.my_tool]\n\n[plugins.my_tool.config]\nlabel_color = "#123456"\n')
    with operator.serving(config) as base_url:
        yield base_url


def test_the_tool_works_over_http(url: str) -> None:
    response = httpx.post(f"{url}/tools/my-tool/api/generate", json=BADGE)
    data = response.json()["data"]
    file = httpx.get(data["url"])
    assert file.headers["content-type"] == "image/svg+xml"
    svg = ET.fromstring(file.content)
    assert (svg.get("width"), svg.get("height")) == (str(data["width"]), str(data["height"]))
    assert svg.findtext("{http://www.w3.org/2000/svg}title") == "build: passing & <fine>"
    assert 'fill="#123456"' in file.text
    assert httpx.post(f"{url}/tools/my-tool/api/generate", json=BADGE).json()["data"]["cached"] is True


def test_the_tool_is_in_the_catalog_and_has_a_page(url: str) -> None:
    catalog = {tool["slug"]: tool for tool in httpx.get(f"{url}/tools/api").json()["tools"]}
    assert sorted(catalog) == ["my-tool", "qr-code-generator"]
    (endpoint,) = catalog["my-tool"]["endpoints"]
    assert [param["name"] for param in endpoint["params"]] == ["label", "value", "color", "response"]
    assert "My tool" in httpx.get(f"{url}/tools/my-tool").text


def test_the_built_in_tools_work_beside_it(url: str) -> None:
    assert httpx.post(f"{url}/tools/qr-code-generator/api/generate", json={"text": "hello"}).status_code == 200


def test_the_readme_has_the_commands_that_ci_runs(project: Path) -> None:
    readme = (project / "README.md").read_text()
    commands = set(re.findall(r"^\$ (.+)$", readme, re.MULTILINE))
    assert {"python -m pip install -e '.[test,lint]'", "pytest", "pressroom serve", "python -m build"} <= commands
    assert "[plugins.my_tool.config]" in readme
