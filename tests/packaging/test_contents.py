"""Contents and metadata of the wheels and source distributions."""

from __future__ import annotations

import email
import shutil
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pressroom.plugins.discovery import BUILTIN_DISTRIBUTIONS
from support.distributions import REPOSITORY, Built, build, build_many, copy_repository, projects, unpack

PROJECTS = projects(REPOSITORY)
PACKAGES = [project for project in PROJECTS if project != "."]
TEMPLATE = "pressroom/plugin_template/"


pytestmark = pytest.mark.timeout(300)  # the first test builds everything


def names(archive: Path) -> list[str]:
    """Return the files of a wheel, or of a source distribution without its top-level folder."""
    if archive.suffix == ".whl":
        return zipfile.ZipFile(archive).namelist()
    with tarfile.open(archive) as files:
        return [member.name.partition("/")[2] for member in files if member.isfile()]


def contents(wheel: Path) -> dict[str, bytes]:
    """Return every file of a wheel except RECORD, whose order does not matter."""
    with zipfile.ZipFile(wheel) as files:
        return {name: files.read(name) for name in files.namelist() if not name.endswith("/RECORD")}


def metadata(wheel: Path) -> Message:
    (content,) = (content for name, content in contents(wheel).items() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(content)


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("project", PROJECTS)
def test_the_metadata_is_complete(built: Built, project: str) -> None:
    headers = metadata(built.wheels[project])
    for field in ("Name", "Version", "Summary", "Author", "Requires-Python", "License-Expression"):
        assert headers[field], field
    assert headers["License-Expression"] == "Apache-2.0"
    assert headers["Description-Content-Type"] == "text/markdown"
    assert len(str(headers.get_payload())) > 80
    classifiers = headers.get_all("Classifier") or []
    for version in ("3.11", "3.12", "3.13"):
        assert f"Programming Language :: Python :: {version}" in classifiers
    assert ("Typing :: Typed" in classifiers) == (project != ".")


def test_all_projects_have_the_same_version(built: Built) -> None:
    assert len({metadata(wheel)["Version"] for wheel in built.wheels.values()}) == 1


@pytest.mark.parametrize("project", PROJECTS)
def test_the_licence_comes_along(built: Built, project: str) -> None:
    text = (REPOSITORY / "LICENSE").read_bytes()
    wheel = built.wheels[project]
    assert metadata(wheel).get_all("License-File") == ["LICENSE"]
    (licence,) = (content for name, content in contents(wheel).items() if name.endswith("/licenses/LICENSE"))
    assert licence == text
    assert "LICENSE" in names(built.sdists[project])


@pytest.mark.parametrize("project", PACKAGES)
def test_a_wheel_has_every_file_of_its_package_and_nothing_else(repository: Path, built: Built, project: str) -> None:
    expected = files_below(repository / project / "src")
    if project == "core":
        expected |= {TEMPLATE + name for name in files_below(repository / "plugin-template")}
    packed = {name for name in names(built.wheels[project]) if ".dist-info/" not in name}
    assert packed == expected
    assert len([name for name in packed if name.endswith("/py.typed") and TEMPLATE not in name]) == 1


def test_the_host_brings_what_is_not_python() -> None:
    package = REPOSITORY / "core/src/pressroom"
    for pattern in (
        "interfaces/tools_api/pages/templates/*.html",
        "http/templates/*.html",
        "http/static/*.css",
        "interfaces/dashboard/templates/*.html",
        "limits/*.lua",
        "py.typed",
    ):
        assert list(package.glob(pattern)), pattern


def test_caches_and_tests_stay_out_even_if_they_lie_about(tmp_path: Path) -> None:
    copy = copy_repository(tmp_path / "used")
    litter = ("__pycache__/a.cpython-311.pyc", ".mypy_cache/a.json", ".ruff_cache/a", ".pytest_cache/a", ".venv/a")
    folders = ("core", "core/src/pressroom", "plugin-template", "plugin-template/common/{{cookiecutter.project_slug}}")
    for folder in folders:
        for name in litter:
            (copy / folder / name).parent.mkdir(parents=True)
            (copy / folder / name).write_text("litter")
    (copy / "core/tests").mkdir()
    (copy / "core/tests/test_host.py").write_text("")
    (wheel, sdist) = build(copy / "core", tmp_path / "dist", "sdist", "wheel")
    for archive in (wheel, sdist):
        assert [name for name in names(archive) if any(path.partition("/")[0] in name for path in litter)] == []
    assert [name for name in names(wheel) if "tests/" in name and TEMPLATE not in name] == []


@pytest.fixture(scope="module")
def rebuilt(built: Built, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels built from the source distributions alone."""
    folder = tmp_path_factory.mktemp("rebuilt")
    sources = {project: unpack(built.sdists[project], folder / "sources" / project) for project in PACKAGES}
    wheels = build_many({source: folder / "dist" / project for project, source in sources.items()}, "wheel")
    return {project: wheels[source][0] for project, source in sources.items()}


@pytest.mark.parametrize("project", PACKAGES)
def test_a_source_distribution_alone_builds_the_same_wheel(
    built: Built, rebuilt: dict[str, Path], project: str
) -> None:
    assert contents(rebuilt[project]) == contents(built.wheels[project])


def test_the_host_cannot_be_built_without_the_template(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "core", tmp_path / "core", ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.raises(AssertionError, match="the plugin template is missing"):
        build(tmp_path / "core", tmp_path / "dist", "wheel")


def test_the_meta_distribution_requires_the_host_and_every_plugin(built: Built) -> None:
    required = metadata(built.wheels["."]).get_all("Requires-Dist") or []
    assert {Requirement(text).name for text in required} == {
        metadata(built.wheels[project])["Name"] for project in PACKAGES
    }


def test_every_plugin_of_the_repository_is_built_in() -> None:
    pyprojects = [tomllib.loads((REPOSITORY / project / "pyproject.toml").read_text()) for project in PACKAGES]
    assert {pyproject["project"]["name"] for pyproject in pyprojects} - {"pressroom"} == BUILTIN_DISTRIBUTIONS
