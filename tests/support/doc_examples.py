"""Run the examples of a documentation page, in order, in a separate folder and environment.

A page is tested as a reader would follow it. The language of a fenced block determines how it is handled:

- `console`: each line that begins with `$ ` is run in bash; the lines below it are its expected output.
- `bash`: the whole block is run and must succeed.
- `python`: run in one namespace per page.
- `toml`: must be a valid `pressroom.toml`.
- `json`: must be JSON.
- Any other language is not tested.

A comment directly above a block overrides this: `<!-- example: skip REASON -->`, `<!-- example: file PATH -->` (the
block is saved, for use by later blocks), `<!-- example: serve -->` (its single command keeps running),
`<!-- example: background -->` (another program, which keeps running alongside the server),
`<!-- example: exit CODE -->`.
Hidden setup also uses comments: `<!-- setup bash`, then the script, then `-->`; the same with `python`.

`127.0.0.1:8000` represents the page's own server, which is started on first use, and `127.0.0.1:8100` the background
program. The server's start-up output is in `~/server.txt`, for use by hidden setup.
Output is compared word by word, except for ids, times, secrets and signatures; a line `...` matches any number of
lines, and `…` any text within a line.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import textwrap
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from pressroom.config import InvalidConfig, load

from support.downloads import MYPY_CACHE
from support.forked_command import command_script
from support.needs import free_port, program
from support.server import PROCESSES_WHEN_NEEDED

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"

SHOWN_ADDRESS: Final = "127.0.0.1:8000"
BACKGROUND_ADDRESS: Final = "127.0.0.1:8100"

_BLOCK = re.compile(
    r"(?:^(?P<mark_indent> *)<!-- example: (?P<mark>[^>]*?) -->\n\s*)?"
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[a-z]*)[^\n]*\n(?P<body>.*?)^(?P=indent)(?P=fence) *$"
    r"|^ *<!-- setup (?P<setup>bash|python)\n(?P<script>.*?)^ *-->$",
    re.MULTILINE | re.DOTALL,
)
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "<time>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"expires=\d+"), "expires=<time>"),
    (re.compile(r"signature=[\w-]+"), "signature=<signature>"),
    (re.compile(r"\b(token=|prk_key_)[\w-]+"), r"\1<secret>"),
    (re.compile(r"(?<=RateLimit-Reset: )\d+"), "<seconds>"),
    (re.compile(r"[ \t]+"), " "),
)
_START_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page: its language, its text, the directive in the comment above it, and its first line number."""

    language: str
    text: str
    mark: str
    line: int

    @property
    def skipped(self) -> bool:
        return self.mark.startswith("skip")


def pages() -> list[Path]:
    """Return every Markdown page of the documentation and of the repository's root."""
    return [*sorted(page for page in DOCS.rglob("*.md") if "site" not in page.parts), *sorted(ROOT.glob("*.md"))]


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks and the hidden setup of a page, in order."""
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["setup"]:
            yield Block(match["setup"], textwrap.dedent(match["script"]), "setup", line)
        else:
            body = textwrap.dedent(match["body"]) if match["indent"] else match["body"]
            yield Block(match["language"], body, match["mark"] or "", line)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block, each with the output shown below it."""
    command, output, continued = "", "", False
    for line in text.splitlines():
        if continued:
            command += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            if command:
                yield command, output
            command, output = line.removeprefix("$ "), ""
        else:
            output += line + "\n"
            continue
        continued = line.endswith("\\") or command.count("'") % 2 == 1
    if command:
        yield command, output


def differences(shown: str, actual: str) -> str:
    """Return a diff of the shown and the actual output, or an empty string if they match."""
    shown, actual = _without_variation(shown), _without_variation(actual)
    parts = [r"(?:.*\n)*?" if line == "..." else _line_pattern(line) for line in shown.splitlines()]
    if re.fullmatch("".join(parts), actual):
        return ""
    return "\n".join(difflib.unified_diff(shown.splitlines(), actual.splitlines(), "shown", "actual", lineterm=""))


def _line_pattern(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("…")) + r"\n"


def _without_variation(text: str) -> str:
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "".join(f"{line}\n" for line in lines) if any(lines) else ""


class PageExamples:
    """The examples of one page. Use it as a context manager, and call `run`."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self._folder = folder / "work"
        self._folder.mkdir()
        self._state = folder / "state.sh"
        self._environment = _environment(folder)
        self._namespace: dict[str, Any] = {"__name__": "example"}
        self._port = free_port()
        self._background_port = free_port()
        self._background: list[subprocess.Popen[str]] = []
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_server()
        for program_ in self._background:
            program_.terminate()
            program_.communicate(timeout=_START_SECONDS)

    def run(self) -> int:
        """Run every block and return their number. Raises `AssertionError` for the first block that fails."""
        count = 0
        for block in blocks(self.page.read_text()):
            if not block.skipped:
                try:
                    self._run(block)
                except Exception as error:
                    raise AssertionError(f"{self.page.name}, line {block.line}: {error}") from error
                count += 1
        return count

    def _run(self, block: Block) -> None:
        other = block.text.replace(BACKGROUND_ADDRESS, f"127.0.0.1:{self._background_port}")
        text = other.replace(SHOWN_ADDRESS, f"127.0.0.1:{self._port}")
        kind, _, value = block.mark.partition(" ")
        if kind == "file":
            target = self._folder / value
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        if kind in ("serve", "background"):
            ((command, expected),) = commands(text)
            (self._serve if kind == "serve" else self._begin)(command, expected)
            return
        if block.language in ("console", "bash", "python") and text != other and self._server is None:
            self._serve("pressroom serve", "")
        match block.language:
            case "console":
                for command, expected in commands(text):
                    code, output = self._shell(command)
                    assert code == int(value if kind == "exit" else 0), f"{command} ended with {code}:\n{output}"
                    difference = differences(self._as_shown(expected), self._as_shown(output))
                    assert not difference, f"{command}\n{difference}"
            case "bash":
                code, output = self._shell(text)
                assert code == int(value if kind == "exit" else 0), f"ended with {code}:\n{output}"
            case "python" if kind != "file":
                exec(compile(text, f"{self.page.name}:{block.line}", "exec", dont_inherit=True), self._namespace)
            case "toml" if kind != "file" or value == "pressroom.toml":
                self._check_config(block.text)
            case "json":
                json.loads(block.text)

    def _as_shown(self, text: str) -> str:
        text = text.replace(f"127.0.0.1:{self._background_port}", BACKGROUND_ADDRESS)
        return text.replace(f"127.0.0.1:{self._port}", SHOWN_ADDRESS).replace(str(self._folder), "~")

    def _shell(self, command: str) -> tuple[int, str]:
        script = (
            f"[ -f '{self._state}' ] && . '{self._state}'; cd \"$PWD\"; {command}\n"
            f"code=$?; declare -px > '{self._state}'; exit $code"
        )
        run = subprocess.run(  # noqa: PLW1510 - the page says which code is right
            [program("bash"), "-c", script],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
        )
        return run.returncode, run.stdout

    def _begin(self, command: str, expected: str) -> None:
        """Start a program that keeps running, and wait for its first line of output, which must be as shown."""
        started = subprocess.Popen(
            ["bash", "-c", f"[ -f '{self._state}' ] && . '{self._state}'; cd \"$PWD\"; exec {command}"],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._background.append(started)
        assert started.stdout is not None
        difference = differences(self._as_shown(expected), self._as_shown(started.stdout.readline()))
        assert not difference, f"{command}\n{difference}"

    def _serve(self, command: str, expected: str) -> None:
        self._stop_server()
        log = (self._folder.parent / "server.log").open("w")
        self._server = subprocess.Popen(
            ["bash", "-c", f"[ -f '{self._state}' ] && . '{self._state}'; cd \"$PWD\"; exec {command}"],
            cwd=self._folder,
            env={**self._environment, **PROCESSES_WHEN_NEEDED, "PRESSROOM_SERVER__PORT": str(self._port)},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        log.close()
        assert self._server.stdout is not None
        output, last = "", "/setup?token=" if "/setup?token=" in expected else "Data  "
        for line in self._server.stdout:
            output += line
            if last in line:
                break
        else:
            raise AssertionError(f"the server did not start: {output}{Path(log.name).read_text()}")
        (self._folder.parent / "server.txt").write_text(output)
        difference = differences(self._as_shown(expected), self._as_shown(output)) if expected else ""
        assert not difference, f"{command}\n{difference}"

    def _stop_server(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.send_signal(signal.SIGTERM)
            server.wait(_START_SECONDS)
            if server.stdout:
                server.stdout.close()

    def _check_config(self, text: str) -> None:
        file = self._folder.parent / "checked.toml"
        file.write_text(text)
        try:
            load(file, environ={})
        except InvalidConfig as error:
            raise AssertionError(error.message) from None


def _environment(folder: Path) -> dict[str, str]:
    """Return a reader's environment: a virtual environment with everything installed, and a separate home folder."""
    reader = folder / "venv"
    # No pip is installed: the one on the path works here and installs into this environment.
    venv.create(reader, symlinks=True)
    paths = sysconfig.get_paths(vars={"base": str(reader), "platbase": str(reader)})
    installed = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (Path(paths["purelib"]) / "installed.pth").write_text(installed)
    command = Path(paths["scripts"]) / "pressroom"
    command.write_text(command_script(reader / "bin/python", Path(paths["purelib"])))
    command.chmod(0o755)
    inherited = {name: os.environ[name] for name in ("TMPDIR", "CI") if name in os.environ}
    return {
        **inherited,
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([paths["scripts"], str(Path(sys.executable).parent), os.environ["PATH"]]),
        "XDG_DATA_HOME": str(folder / "data"),
        "COLUMNS": "100",
        # A reader has pytest, but not all of the plugins that are installed here.
        "PYTEST_ADDOPTS": "-p no:asyncio -p no:xdist -p no:timeout -p no:cacheprovider",
        "MYPY_CACHE_DIR": str(MYPY_CACHE),
        # Everything needed is already installed; never access an index.
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "false",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
