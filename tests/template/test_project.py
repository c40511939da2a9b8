"""The project that the template makes: its own checks pass, its wheel works beside the host, and its README is true."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
import yaml
from support.distributions import Environment

BADGE = {"label": "build", "value": "passing & <fine>"}


pytestmark = pytest.mark.timeout(600)  # the first test installs everything, from a cold cache


def ci_commands() -> list[str]:
    """Return what the template's CI runs once everything is installed."""
    template = Path(__file__).parents[2] / "plugin-template/{{cookiecutter.project_slug}}/.github/workflows/ci.yml"
    (job,) = yaml.safe_load(template.read_text())["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    return [command for command in commands if "pip install" not in command and "-m build" not in command]


@pytest.mark.parametrize("command", ci_commands())
def test_the_ci_of_the_project_passes(workshop: Environment, project: Path, command: str) -> None:
    done = workshop.run_tool(*command.split(), cwd=project)
    if command == "pytest":
        assert re.search(r"\b\d\d passed", done.stdout)
        assert not re.search("failed|skipped|warning", done.stdout)


def test_the_ci_checks_format_style_types_and_behaviour() -> None:
    assert ci_commands() == ["ruff format --check .", "ruff check .", "mypy", "pytest"]


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


def test_an_installed_plugin_that_nobody_named_is_available_and_not_imported(
    operator: Environment, tmp_path: Path
) -> None:
    record = listed(operator, tmp_path)["my_tool"]
    assert (record["status"], record["import_seconds"]) == ("available", 0)
    code = (
        "import sys; from pressroom.cli import main; main(['plugins', 'list', '--json']); "
        "sys.exit('pressroom_my_tool' in {name.partition('.')[0] for name in sys.modules})"
    )
    operator.run_tool(operator.bin / "python", "-c", code, cwd=tmp_path)


def test_a_plugin_that_is_named_is_active(operator: Environment, project: Path) -> None:
    record = listed(operator, project)["my_tool"]
    assert (record["status"], record["distribution"], record["version"]) == ("active", "pressroom-my-tool", "0.1.0")
    assert record["contributes"] == ["generator my-tool", "tool my_tool_measure"]
    assert operator.pressroom("doctor", cwd=project, check=False).returncode == 0


@pytest.fixture(scope="module")
def url(operator: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the operator's server, whose configuration is that of the project's README."""
    config = tmp_path_factory.mktemp("config") / "pressroom.toml"
    config.write_text('[plugins.my_tool]\n\n[plugins.my_tool.config]\nlabel_color = "#123456"\n')
    with operator.serving(config) as address:
        yield address


def test_the_tool_answers_over_http(url: str) -> None:
    made = httpx.post(f"{url}/tools/my-tool/api/generate", json=BADGE)
    data = made.json()["data"]
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


def test_the_commands_of_the_readme_are_those_that_ci_runs(project: Path) -> None:
    readme = (project / "README.md").read_text()
    commands = set(re.findall(r"^\$ (.+)$", readme, re.MULTILINE))
    assert {"python -m pip install -e '.[test,lint]'", "pytest", "pressroom serve", "python -m build"} <= commands
    assert "[plugins.my_tool.config]" in readme
