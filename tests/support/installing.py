"""Distributions generated on the fly: the files that an installer leaves in `site-packages`, or a wheel."""

from __future__ import annotations

import base64
import hashlib
import importlib
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

Files = Mapping[str, str | bytes]


def install(
    folder: Path,
    name: str,
    files: Files,
    entry_points: Mapping[str, str],
    *,
    version: str = "1.0",
    requires: tuple[str, ...] = (),
) -> Path:
    """Install a distribution into `folder`, and return its metadata folder.

    `files` are the package's files by path, `entry_points` those of `pressroom.plugins` by plugin id, `requires` the
    requirement specifiers.
    """
    content = _content(name, files, entry_points, version, requires)
    metadata = _metadata_folder(name, version)
    content[f"{metadata}/INSTALLER"] = b"tests\n"
    content[f"{metadata}/RECORD"] = _record(content, metadata)
    for path, data in content.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder / metadata


def build_wheel(
    folder: Path,
    name: str,
    files: Files,
    entry_points: Mapping[str, str],
    *,
    version: str = "1.0",
    requires: tuple[str, ...] = (),
) -> Path:
    """Build the wheel of a distribution into `folder`, and return its path."""
    content = _content(name, files, entry_points, version, requires)
    metadata = _metadata_folder(name, version)
    content[f"{metadata}/RECORD"] = _record(content, metadata)
    wheel = folder / f"{metadata.removesuffix('.dist-info')}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, data in content.items():
            archive.writestr(path, data)
    return wheel


@contextmanager
def on_path(*folders: Path) -> Iterator[None]:
    """Put `folders` on this process's import path; modules imported from them are removed afterwards."""
    texts = [str(folder) for folder in folders]
    before, modules = list(sys.path), set(sys.modules)
    sys.path[:0] = texts
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before
        for name in set(sys.modules) - modules:
            origin = getattr(getattr(sys.modules[name], "__spec__", None), "origin", None) or ""
            if origin.startswith(tuple(texts)):
                del sys.modules[name]


def _metadata_folder(name: str, version: str) -> str:
    return f"{name.replace('-', '_')}-{version}.dist-info"


def _content(
    name: str, files: Files, entry_points: Mapping[str, str], version: str, requires: tuple[str, ...]
) -> dict[str, bytes]:
    metadata = _metadata_folder(name, version)
    headers = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    headers += [f"Requires-Dist: {requirement}" for requirement in requires]
    lines = ["[pressroom.plugins]", *(f"{id_} = {value}" for id_, value in entry_points.items())]
    wheel = ["Wheel-Version: 1.0", "Generator: tests", "Root-Is-Purelib: true", "Tag: py3-none-any"]
    return {path: data if isinstance(data, bytes) else data.encode() for path, data in files.items()} | {
        f"{metadata}/{file}": "\n".join([*text, ""]).encode()
        for file, text in (("METADATA", headers), ("WHEEL", wheel), ("entry_points.txt", lines))
    }


def _record(content: Mapping[str, bytes], metadata: str) -> bytes:
    rows = []
    for path, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(data)}")
    return "\n".join([*rows, f"{metadata}/RECORD,,", ""]).encode()
