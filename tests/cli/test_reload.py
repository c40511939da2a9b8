"""`pressroom serve --reload` restarts the server when a source changes, and leaves no processes behind."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pressroom.cli.watched_sources import changed, source_paths, state_of, syntax_errors
from support.polling import wait_until
from support.reloading import CONFIG, PLUGIN, SECONDS, Reloading, page_text, reloading_command

END_AT_A_CALL = """

import os


async def end(request: HttpRequest) -> HttpResponse:
    os.kill(os.getpid(), 15)
    return HttpResponse(b"ends")


@hookimpl(specname="pressroom_routes")
def more_routes() -> list[Route]:
    return [Route("/end", end)]
"""
HELPER = "from pathlib import Path\nWORD = '$WORD' + Path(__file__).with_name('said.txt').read_text()\n"
BUILTIN = """import threading
from pressroom.sdk import HttpRequest, HttpResponse, Plugin, Route, hookimpl
from . import helper

PLUGIN = Plugin(id="devto", api="1", title="Said", summary="Says another word.")


async def said(request: HttpRequest) -> HttpResponse:
    return HttpResponse(helper.WORD.encode())


@hookimpl
def pressroom_routes() -> list[Route]:
    return [Route("/helped", said)]
"""
THREAD = "\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
"""Appended to a source: starts a thread, after which a process must not be forked."""


@pytest.fixture
def reloading(tmp_path: Path) -> Iterator[Reloading]:
    """Return a running command whose server is up."""
    with reloading_command(tmp_path) as running:
        running.wait_for("one")
        yield running


def session(leader: int) -> list[str]:
    """Return the command lines of a session's running processes."""
    result = subprocess.run(["ps", "-A", "-o", "sess=,stat=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in result.stdout.splitlines()]
    return [args for number, status, args in rows if number == str(leader) and not status.startswith("Z")]


def wait_until_all_are_gone(reloading: Reloading) -> None:
    """Wait until no process of the command runs: those that servers started end shortly after them."""
    wait_until(lambda: not session(reloading.process.pid), seconds=SECONDS)


def test_changes_to_a_plugin_and_the_configuration_are_served_despite_errors(reloading: Reloading) -> None:
    browser = http.client.HTTPConnection("127.0.0.1", reloading.port)
    browser.request("GET", "/said")
    assert browser.getresponse().read() == b"one"

    # A browser keeps its connection open, and no request is refused during the restart.
    reloading.write("two words")
    responses = {page_text(reloading.port, seconds=SECONDS)}
    while "two words" not in responses:
        responses.add(page_text(reloading.port, seconds=SECONDS))
    assert responses <= {"one", "two words"}
    browser.close()

    # A file with a syntax error is reported, and the server keeps running unchanged.
    reloading.write("three", after="def broken(:\n    pass\n")
    line = len(PLUGIN.splitlines()) + 1
    reloading.wait_for_output(f"{reloading.plugin}, line {line}: ")
    reloading.wait_for("two words")
    reloading.write("four")
    reloading.wait_for("four")

    # So it does if the new configuration is invalid.
    reloading.configure(CONFIG + "[server]\nprot = 1\n")
    reloading.wait_for_output("The new server exited (exit code 1). The server keeps running unchanged")
    assert "prot" in reloading.output
    assert page_text(reloading.port, seconds=SECONDS) == "four"
    reloading.configure(CONFIG + "[branding]\nname = 'Another'\n")
    reloading.write("five")
    reloading.wait_for("five")

    # A server that exits on its own is started again by the next change.
    reloading.write("six", after=END_AT_A_CALL)
    reloading.wait_for("six")
    page_text(reloading.port, "/end")
    reloading.wait_for_output("The server exited (exit code 0). It starts again when a file changes.")
    reloading.write("seven")
    reloading.wait_for("seven")

    os.killpg(reloading.process.pid, signal.SIGINT)  # as Ctrl-C does
    assert reloading.process.wait(40) == 0
    wait_until_all_are_gone(reloading)
    assert "leaked" not in reloading.output
    assert "Traceback" not in reloading.output


@pytest.mark.parametrize(
    ("after", "number", "code"),
    [("", signal.SIGTERM, 0), (THREAD, signal.SIGKILL, -signal.SIGKILL)],
    ids=["imported before, ends by SIGTERM", "cannot be forked, ends by SIGKILL"],
)
def test_imports_are_never_stale_and_a_signal_to_the_command_ends_all(
    after: str, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    # Replaces a built-in plugin, which is imported once for several servers.
    package = tmp_path / "packages" / "pressroom_devto"
    metadata = tmp_path / "packages" / "pressroom_devto-9.dist-info"
    package.mkdir(parents=True)
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pressroom-devto\nVersion: 9\n")
    (metadata / "entry_points.txt").write_text("[pressroom.plugins]\ndevto = pressroom_devto\n")
    (package / "__init__.py").write_text(BUILTIN + after)
    helper = package / "helper.py"
    helper.write_text(HELPER.replace("$WORD", "one"))
    (package / "said.txt").write_text(" text")
    with reloading_command(tmp_path, CONFIG + "[plugins.devto]\n", packages=package.parent) as running:
        running.wait_for("one text", "/helped")
        for word in ("two", "three"):
            running.write(word)
            running.wait_for(word)

        # Same second and same size: Python compares these to decide whether its bytecode cache is valid.
        written = helper.stat().st_mtime_ns
        helper.write_text(HELPER.replace("$WORD", "two"))
        os.utime(helper, ns=(written, written // 10**9 * 10**9 + (written + 1) % 10**9))
        running.wait_for("two text", "/helped")
        (package / "said.txt").write_text(" words")
        running.wait_for("two words", "/helped")

        # It works even after the process that starts servers is killed.
        os.kill(starting_process(running.process.pid), signal.SIGKILL)
        running.write("four")
        running.wait_for("four")

        running.process.send_signal(number)
        assert running.process.wait(40) == code
        wait_until_all_are_gone(running)


def starting_process(command: int) -> int:
    """Return the process that a `--reload` command starts its servers from: its only child."""
    result = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    [child] = [pid for pid, parent in map(str.split, result.stdout.splitlines()) if parent == str(command)]
    return int(child)


def test_servers_start_where_processes_cannot_be_forked(tmp_path: Path) -> None:
    code = "import sys; from pressroom.cli import main, reloading; reloading.CAN_FORK = False; sys.exit(main())"
    with reloading_command(tmp_path, python=("-c", code)) as running:
        running.wait_for("one")
        running.write("two")
        running.wait_for("two")
        running.process.terminate()
        assert running.process.wait(40) == 0
    wait_until_all_are_gone(running)


def test_a_signal_during_a_restart_ends_all(reloading: Reloading) -> None:
    reloading.write("two words")
    reloading.wait_for_output("Restarting.")
    reloading.process.send_signal(signal.SIGINT)

    assert reloading.process.wait(40) == 0
    wait_until_all_are_gone(reloading)


def test_written_created_and_removed_files_are_changes(tmp_path: Path) -> None:
    unchanged, written, removed = (tmp_path / name for name in ("kept.py", "written.py", "removed.html"))
    for file in (unchanged, written, removed):
        file.write_text("1")
    (tmp_path / "__pycache__").mkdir()
    before = state_of([tmp_path, tmp_path / "missing.toml"])
    written.write_text("22")
    removed.unlink()
    (tmp_path / "made.css").write_text("1")
    for other in (".hidden.swp", "written.py~", "__pycache__/kept.pyc"):
        (tmp_path / other).write_text("1")

    assert changed(before, state_of([tmp_path])) == [tmp_path / "made.css", removed, written]


@pytest.mark.parametrize(
    ("source", "line"),
    [(b"def f(:\n", 1), (b"a = 1\n\nb = (\n", 3), (b"# coding: nonsense\n", 1), (b"'\xff'\n", 1), (b"a\x00b", None)],
)
def test_a_syntax_error_is_reported_with_file_and_line(source: bytes, line: int | None, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_bytes(source)

    [sentence] = syntax_errors([file, tmp_path / "gone.py", tmp_path / "style.css"])

    match = re.fullmatch(rf"{re.escape(str(file))}(?:, line (\d+))?: .+", sentence)
    assert match
    assert line is None or int(match[1]) == line


def test_only_editable_sources_are_watched(tmp_path: Path) -> None:
    sources = source_paths(tmp_path / "pressroom.toml", tmp_path / "plugins")
    paths = list(sources.watched)

    assert paths[:2] == [tmp_path / "pressroom.toml", tmp_path / "plugins"]
    assert any(path.name == "pressroom" for path in paths)
    assert not any("site-packages" in path.parts for path in paths)
    assert set(sources.shared) <= set(paths)
