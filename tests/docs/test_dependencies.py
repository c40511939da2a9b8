"""The dependencies page gives a reason for every dependency."""

import importlib.metadata
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.doc_examples import DOCS, ROOT

PERMISSIVE = re.compile(
    r"(MIT|BSD|0BSD|ISC|Apache|PSF|Python Software Foundation|TCL|Public Domain|Unlicense|License|Software|Clause"
    r"|AND|OR|[\d.]+|[-; ()])+",
)


def declared(file: Path) -> Iterator[str]:
    document: dict[str, Any] = tomllib.loads(file.read_text())
    project = document.get("project", {})
    lists = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
    lists += document.get("dependency-groups", {}).values()
    for requirement in (entry for group in lists for entry in group if isinstance(entry, str)):
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        assert name, requirement
        if name[0] != "pressroom" and not name[0].startswith("pressroom-"):
            yield name[0]


def test_the_page_lists_exactly_the_declared_dependencies() -> None:
    text = (DOCS / "explanation/dependencies.md").read_text()
    cells = re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE)
    explained = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    files = [ROOT / "pyproject.toml", ROOT / "core/pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml"))]
    assert explained == {name for file in files for name in declared(file)}


def licence(name: str) -> str:
    """Return the licence from a package's metadata, or an empty string if it has none."""
    metadata = importlib.metadata.metadata(name)
    licences = metadata.get_all("License-Expression") or [
        classifier.rpartition(" :: ")[2]
        for classifier in metadata.get_all("Classifier") or []
        if classifier.startswith("License ::")
    ]
    return "; ".join(licences or metadata.get_all("License") or [])


def test_a_licence_that_is_not_permissive_is_documented() -> None:
    section = (DOCS / "explanation/dependencies.md").read_text().partition("## Licences of the whole tree")[2]
    documented = set(re.findall(r"`([a-z0-9-]+)`", section.partition("\n## ")[0]))
    locked = set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / ".lock/runtime.txt").read_text(), re.MULTILINE))
    # Packages needed only on other platforms or Python versions are not installed here.
    installed = {
        distribution.metadata["Name"].lower().replace("_", "-") for distribution in importlib.metadata.distributions()
    }
    assert len(locked & installed) > 40
    special = {name for name in locked & installed if not PERMISSIVE.fullmatch(licence(name))}
    assert special - documented == set()
