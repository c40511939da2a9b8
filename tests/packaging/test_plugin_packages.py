"""`pressroom plugins install` and `uninstall`, in a separate environment."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.commands import run_command
from support.distributions import Built, Done, Environment
from support.installing import build_wheel, install
from support.needs import program
from support.plugin_source import SOUND, filled
from uv import find_uv_bin

pytestmark = pytest.mark.timeout(600)  # the first test builds and installs the server

BACKEND = """
import pathlib, shutil
def build_wheel(folder, settings=None, metadata=None):
    (wheel,) = pathlib.Path(__file__).parent.glob("*.whl")
    shutil.copy(wheel, folder)
    return wheel.name
def build_editable(folder, settings=None, metadata=None):
    return build_wheel(folder)
"""
"""A build backend without network access: it copies a wheel that already exists."""


@pytest.fixture(scope="module")
def server(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the server and pip."""
    environment = Environment(tmp_path_factory.mktemp("server"), with_pip=True)
    environment.install(built.wheels["core"])
    return environment


@pytest.fixture(scope="module")
def server_of_uv(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The same environment without pip, as uv creates it."""
    environment = Environment(tmp_path_factory.mktemp("server_of_uv"))
    environment.install(built.wheels["core"])
    return environment


def wheel(folder: Path, id_: str, *, name: str = "", version: str = "1.0", requires: tuple[str, ...] = ()) -> Path:
    package = f"acme_{id_}"
    files = {f"{package}/__init__.py": "", f"{package}/plugin.py": filled(SOUND, id_)}
    folder.mkdir(exist_ok=True, parents=True)
    name = name or f"acme-{id_.replace('_', '-')}"
    return build_wheel(folder, name, files, {id_: f"{package}.plugin"}, version=version, requires=requires)


def project(folder: Path, id_: str, name: str = "") -> Path:
    name = name or f"acme-{id_.replace('_', '-')}"
    wheel(folder, id_, name=name)
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pyproject.toml").write_text(
        f'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "{name}"\nversion = "1.0"\n'
    )
    return folder


def plugins(server: Environment, *arguments: str | Path, check: bool = True) -> Done:
    path = os.pathsep.join([str(server.bin), str(Path(find_uv_bin()).parent), os.environ["PATH"]])
    return server.run_tool(server.bin / "pressroom", "plugins", *arguments, check=check, PATH=path)


def listed(server: Environment) -> dict[str, dict[str, Any]]:
    return {record["id"]: record for record in json.loads(plugins(server, "list", "--json").stdout)}


def test_a_wheel_is_installed_and_its_tools_are_listed(server: Environment, tmp_path: Path) -> None:
    result = plugins(server, "install", wheel(tmp_path, "of_a_wheel", requires=("pressroom>=0.1",)))
    assert result.stdout.splitlines() == [
        "acme-of-a-wheel 1.0 is installed. It offers:",
        "  of_a_wheel: generator of-a-wheel",
        "To use it, add to the configuration, and restart the server:",
        "  [plugins.of_a_wheel]",
    ]
    assert listed(server)["of_a_wheel"]["status"] == "available"


def test_the_plugins_of_one_host_can_be_installed_on_another(
    server: Environment, built: Built, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    wheel_file = wheel(tmp_path, "copied")
    plugins(server, "install", wheel_file)
    requirements = plugins(server, "list", "--requirements").stdout
    assert f"acme-copied @ file://{wheel_file}" in requirements.splitlines()
    assert not [line for line in requirements.splitlines() if line.startswith("pressroom")]
    other = Environment(tmp_path_factory.mktemp("other"), with_pip=True)
    other.install(built.wheels["core"])
    file = tmp_path / "plugins.txt"
    file.write_text(f"# those of the first host\nacme-copied @ file://{wheel_file}\n")
    for _ in range(2):  # the second run has nothing to do
        result = plugins(other, "install", "-r", file)
        assert "acme-copied 1.0 is installed. It offers:" in result.stdout
    assert listed(other)["copied"]["status"] == "available"
    (line,) = json.loads(plugins(other, "list", "--requirements", "--json").stdout)
    assert line == f"acme-copied @ file://{wheel_file}"
    plugins(other, "uninstall", "copied")
    assert "acme-copied 1.0 is installed. It offers:" in plugins(other, "install", line).stdout


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_a_rebuilt_wheel_replaces_the_same_version(
    server: Environment, server_of_uv: Environment, tmp_path: Path, installer: str
) -> None:
    used = server if installer == "pip" else server_of_uv
    wheel_file = wheel(tmp_path, "rebuilt")
    first = plugins(used, "install", wheel_file).stdout
    assert plugins(used, "install", wheel_file).stdout == first
    files = {"acme_rebuilt/__init__.py": "", "acme_rebuilt/plugin.py": filled(SOUND, "rebuilt") + "BUILT_ANEW = 1\n"}
    build_wheel(tmp_path, "acme-rebuilt", files, {"rebuilt": "acme_rebuilt.plugin"}, version="1.0")
    assert plugins(used, "install", wheel_file).stdout == first
    python = ("-c", "from acme_rebuilt.plugin import BUILT_ANEW")
    used.run_tool(used.bin / "python", *python)


def test_an_upgrade_replaces_a_plugin_and_an_uninstall_removes_it(server: Environment, tmp_path: Path) -> None:
    plugins(server, "install", wheel(tmp_path, "short_lived"))
    result = plugins(server, "install", "--upgrade", wheel(tmp_path, "short_lived", version="1.1"), "--json")
    document = json.loads(result.stdout)
    assert document["packages"] == [{"name": "acme-short-lived", "version": "1.1", "plugins": ["short_lived"]}]
    assert document["plugins"][0]["configuration"] == "[plugins.short_lived]"
    assert document["plugins"][0]["contributes"] == ["generator short-lived"]
    assert plugins(server, "uninstall", "short_lived").stdout.splitlines() == [
        "Uninstalled acme-short-lived. Tables and files of the plugin stay.",
        "Remove [plugins.short_lived] from the configuration if it has that, and restart the server.",
    ]
    assert "short_lived" not in listed(server)


def test_a_plugin_is_installed_by_name_from_the_index(server: Environment, tmp_path: Path) -> None:
    wheel(tmp_path / "index", "by_name")
    command = (str(server.bin / "pressroom"), "plugins", "install", "acme-by-name")
    result = server.run_tool(*command, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path / "index"))
    assert result.stdout.startswith("acme-by-name 1.0 is installed. It offers:")
    repeated = server.run_tool(*command, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path / "index"))
    assert repeated.stdout == result.stdout


def test_a_folder_and_a_git_repository_are_installed(server: Environment, tmp_path: Path) -> None:
    assert "acme-of-a-folder 1.0" in plugins(server, "install", project(tmp_path / "folder", "of_a_folder")).stdout
    repository, git = project(tmp_path / "repository", "of_git"), program("git")
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for arguments in (("init", "--quiet"), ("add", "."), (*identity, "commit", "--quiet", "-m", "first")):
        server.run_tool(git, *arguments, cwd=repository)
    result = plugins(server, "install", f"git+file://{repository}")
    assert "acme-of-git 1.0 is installed" in result.stdout


def test_reinstalling_a_plugin_is_reported_however_its_name_is_spelt(server: Environment, tmp_path: Path) -> None:
    project_folder = project(tmp_path / "dotted", "dotted", name="Acme.Dotted")
    for _ in range(2):
        assert "acme-dotted 1.0 is installed. It offers:" in plugins(server, "install", project_folder).stdout


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_an_incompatible_plugin_is_refused_and_changes_nothing(
    server: Environment, server_of_uv: Environment, tmp_path: Path, installer: str
) -> None:
    used = server if installer == "pip" else server_of_uv
    before = listed(used)
    wheel_file = wheel(tmp_path, "too_new", requires=("pressroom>=99",))
    result = plugins(used, "install", wheel_file, check=False)
    assert result.returncode == 1
    assert "does not work with Pressroom 0.1.0, which is installed here; nothing was changed" in result.stderr
    assert "install a version of the plugin that is made for this server, or upgrade the server first" in result.stderr
    assert "pressroom>=99" in result.stderr
    assert listed(used) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["install", "pressroom"], "pressroom is part of the server itself"),
        (["install", "pressroom-seo>=2"], "pressroom-seo is part of the server itself"),
        (["install", "pressroom-seo @ file:///seo.whl"], "pressroom-seo is part of the server itself"),
        (["install", "acme @ nowhere/acme.whl"], "there is no file or folder acme @ nowhere/acme.whl"),
        (["install", "./nowhere"], "there is no file or folder ./nowhere"),
        (["install", "no such name"], "'no such name' is not the name of a package"),
        (["uninstall", "pressroom-seo"], "'pressroom-seo' is not an installed plugin"),
        (["uninstall", "pip"], "'pip' is not an installed plugin"),
    ],
)
def test_invalid_package_names_are_refused(server: Environment, arguments: list[str], says: str) -> None:
    result = plugins(server, *arguments, check=False)
    assert (result.returncode, says in result.stderr) == (1, True)


def test_a_plugin_offered_by_two_packages_is_uninstalled_by_package_name(tmp_path: Path) -> None:
    for package in ("acme-one", "acme-two"):
        install(tmp_path, package, {}, {"twins": f"{package.replace('-', '_')}"})
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = run_command(["plugins", "uninstall", "twins"], cwd=tmp_path, env=environment)
    assert result.returncode == 1
    assert "several packages offer the plugin 'twins'" in result.stderr
    assert "name one of acme-one, acme-two" in result.stderr


def test_a_failure_shows_the_last_lines_of_the_installer(server: Environment, tmp_path: Path) -> None:
    broken = tmp_path / "acme_broken-1.0-py3-none-any.whl"
    broken.write_bytes(b"not a wheel")
    result = plugins(server, "install", broken, check=False)
    assert result.returncode == 1
    assert "acme_broken-1.0-py3-none-any.whl" in result.stderr.split("Error:")[0]
    document = json.loads(plugins(server, "install", broken, "--json", check=False).stdout)
    assert document["error"]["code"] == "install_failed"


def test_a_plugin_that_does_not_work_is_reported(server: Environment, tmp_path: Path) -> None:
    files = {"acme_faulty.py": "raise ValueError('no')\n"}
    result = plugins(server, "install", build_wheel(tmp_path, "acme-faulty", files, {"faulty": "acme_faulty"}))
    assert (
        "  faulty: nothing yet, since it is broken: ValueError: no (acme_faulty.py, line 1)"
        in result.stdout.splitlines()
    )


def test_a_package_without_a_plugin_is_reported(server: Environment, tmp_path: Path) -> None:
    wheel_file = build_wheel(tmp_path, "acme-nothing", {"acme_nothing.py": ""}, {})
    result = plugins(server, "install", wheel_file, check=False)
    assert (result.returncode, "is installed, but offers no plugin of Pressroom" in result.stderr) == (1, True)


def test_without_pip_uv_is_used(server_of_uv: Environment, tmp_path: Path) -> None:
    wheel_file = wheel(tmp_path, "by_uv")
    assert "acme-by-uv 1.0 is installed" in plugins(server_of_uv, "install", wheel_file).stdout
    assert "Uninstalled acme-by-uv" in plugins(server_of_uv, "uninstall", "by_uv").stdout


def test_for_a_tool_installed_by_uv_the_output_says_what_lasts(server_of_uv: Environment, tmp_path: Path) -> None:
    receipt = server_of_uv.folder / "uv-receipt.toml"
    receipt.touch()
    result = plugins(server_of_uv, "install", wheel(tmp_path, "into_a_tool"))
    receipt.unlink()
    assert "use `uv tool install pressroom --with NAME`" in result.stderr


def test_without_any_installer_the_message_says_how_to_get_one(server_of_uv: Environment) -> None:
    command = (str(server_of_uv.bin / "pressroom"), "plugins", "install", "acme-x")
    result = server_of_uv.run_tool(*command, check=False, PATH=str(server_of_uv.bin))
    assert (result.returncode, "has no pip, and there is no uv on the PATH" in result.stderr) == (1, True)
    assert "-m ensurepip" in result.stderr
