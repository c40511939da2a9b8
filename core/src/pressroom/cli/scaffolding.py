"""Create plugins from the template in the repository's `plugin-template`."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pressroom.errors import PressroomError
from pressroom.plugins.discovery import BUILTIN_DISTRIBUTIONS
from pressroom.sdk.plugin import PLUGIN_ID

PREFIX: Final = "pressroom-"
MAX_NAME_LENGTH: Final = 30

RESERVED: Final = {
    "api": "/tools/api is the URL of the catalog",
    "suite": "pressroom-suite is the package that installs everything",
}
"""Names that would form a valid project but not a working plugin, and why."""

KINDS: Final = ("generator", "tools", "connector", "backend")
"""Kinds of plugins: a generator of files, tools for AI clients, a platform to publish to, or a backend."""

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)


class InvalidName(PressroomError):
    """The name is not valid for a plugin."""

    code = "invalid_name"


def check_name(name: str) -> None:
    """Raise `InvalidName` if a plugin cannot have this name.

    Raises:
        InvalidName: the message describes the problem, the hint the fix.
    """
    hint = f"use lower-case words joined by hyphens, 2 to {MAX_NAME_LENGTH} characters in all, such as my-tool"
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH or not PLUGIN_ID.fullmatch(plugin_id(name)):
        suggestion = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s_.-]+", "-", name).strip("-").lower()
        hint += f"; did you mean {suggestion}?" if suggestion != name and _NAME.fullmatch(suggestion) else ""
        raise InvalidName(f"{name!r} is not a valid name for a plugin", hint=hint)
    if f"{name}-".startswith(PREFIX):
        raise InvalidName(f"{name!r} begins with pressroom, which is added to every name", hint="leave that out")
    if PREFIX + name in BUILTIN_DISTRIBUTIONS:
        raise InvalidName(f"{name!r} is the name of a built-in plugin", hint="choose another name")
    if name in RESERVED:
        raise InvalidName(f"{name!r} cannot be used: {RESERVED[name]}", hint="choose another name")


def plugin_id(name: str) -> str:
    """Return the ID of the plugin with this name."""
    return name.replace("-", "_")


def render_template(name: str, into: Path, kind: str = "generator") -> Path:
    """Create the project of a new plugin of one of `KINDS` and return its folder, `pressroom-<name>` in `into`.

    The folder is created completely or not at all. Only the template is read, and no code of it runs.

    Raises:
        InvalidName: a plugin cannot have this name.
        PressroomError: the folder exists or cannot be written, or the extra `template` is not installed.
    """
    check_name(name)
    project = into / f"{PREFIX}{name}"
    template = _template_folder()
    try:
        with tempfile.TemporaryDirectory(dir=into, prefix=f".{project.name}-") as scratch:
            rendered = _render(template, name, kind, Path(scratch))
            # `mkdir` fails for any existing folder, whereas `rename` would replace an empty one.
            project.mkdir()
            try:
                rendered.rename(project)
            except OSError:
                project.rmdir()
                raise
    except FileExistsError as error:
        raise PressroomError(f"{project} exists already", hint="choose another name, or remove it") from error
    except OSError as error:
        raise PressroomError(
            f"cannot make {project}: {error.strerror or error}", hint="choose another folder with --into"
        ) from error
    return project


def _template_folder() -> Path:
    this_file = Path(__file__).resolve()
    # The first exists in an installed package, the second in the repository.
    for folder in (this_file.parents[1] / "plugin_template", this_file.parents[4] / "plugin-template"):
        if (folder / "cookiecutter.json").is_file():
            return folder
    raise PressroomError("the plugin template is missing from this installation", hint="reinstall pressroom")


def _render(template: Path, name: str, kind: str, into: Path) -> Path:
    try:
        from cookiecutter.generate import generate_context, generate_files  # noqa: PLC0415 - an extra
        from cookiecutter.prompt import prompt_for_config  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cookiecutter":
            raise
        raise PressroomError(
            "making a plugin needs cookiecutter, which is not installed",
            hint="run: python -m pip install 'pressroom[template]'",
        ) from error
    # `cookiecutter.main` would read the user's configuration and record each run in the home folder.
    variables = {"name": name, "kind": kind, "source": source_of_host()}
    context = generate_context(str(template / "cookiecutter.json"), extra_context=variables)
    context["cookiecutter"].update(prompt_for_config(context, no_input=True))
    generate_files(str(template / "common"), context, str(into), accept_hooks=False)
    # The files of this kind override the common ones.
    project = Path(
        generate_files(str(template / kind), context, str(into), overwrite_if_exists=True, accept_hooks=False)
    )
    # pip compiles the modules of an installed template; bytecode does not belong in the project.
    for compiled in list(project.rglob("__pycache__")):
        shutil.rmtree(compiled)
    return project


def source_of_host() -> str:
    """Return the URL of the git repository that this server was installed from, such as `git+https://…@<commit>`.

    Returns an empty string if the server was installed from a package index or a folder, which others cannot install
    from, or if the URL contains credentials.
    """
    try:
        direct_url = json.loads(importlib.metadata.distribution("pressroom").read_text("direct_url.json") or "{}")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return ""
    version = direct_url.get("vcs_info") or {}
    url = str(direct_url.get("url", ""))
    if version.get("vcs") != "git" or "@" in urlsplit(url).netloc:
        return ""  # a URL with a user name can contain a password
    return f"git+{url}@{version.get('commit_id', 'main')}"
