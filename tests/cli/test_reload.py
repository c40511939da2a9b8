"""`pressroom serve --reload` restarts when a source changes, and leaves nothing behind."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pressroom.cli.reloading import changed, source_paths, state_of, syntax_errors
from support.reloading import CONFIG, PLUGIN, SECONDS, Reloading, reloading_command


@pytest.fixture
def reloading(tmp_path: Path) -> Iterator[Reloading]:
    """Return a running command whose server answers."""
    with reloading_command(tmp_path) as running:
        running.wait_for("one")
        yield running


def session(leader: int) -> list[str]:
    """Return the processes of a session that still run."""
    done = subprocess.run(["ps", "-A", "-o", "sess=,stat=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in done.stdout.splitlines()]
    return [args for number, status, args in rows if number == str(leader) and not status.startswith("Z")]


def test_it_follows_a_plugin_and_the_configuration_and_survives_errors(reloading: Reloading) -> None:
    browser = http.client.HTTPConnection("127.0.0.1", reloading.port)
    browser.request("GET", "/said")
    assert browser.getresponse().read() == b"one"

    # A browser keeps its connection open.
    reloading.write("two words")
    reloading.wait_for("two words")
    browser.close()

    # What cannot be parsed is named, and the server runs on as it was.
    reloading.write("three", after="def broken(:\n    pass\n")
    line = len(PLUGIN.splitlines()) + 1
    reloading.wait_for_output(f"{reloading.plugin}, line {line}: ")
    reloading.wait_for("two words")
    reloading.write("four")
    reloading.wait_for("four")

    # What cannot be configured ends the server, not the command.
    reloading.config.write_text(CONFIG + "[server]\nprot = 1\n")
    reloading.wait_for_output("It starts again when a file changes.")
    assert "prot" in reloading.output
    reloading.config.write_text(CONFIG + "[branding]\nname = 'Another'\n")
    reloading.wait_for("four")

    os.killpg(reloading.process.pid, signal.SIGINT)  # as Ctrl-C does
    assert reloading.process.wait(40) == 0
    assert session(reloading.process.pid) == []
    assert "leaked" not in reloading.output
    assert "Traceback" not in reloading.output


def test_a_signal_to_the_command_alone_ends_all(reloading: Reloading) -> None:
    reloading.process.terminate()

    assert reloading.process.wait(40) == 0
    assert session(reloading.process.pid) == []


def test_a_signal_during_a_restart_ends_all(reloading: Reloading) -> None:
    reloading.write("two words")
    reloading.wait_for_output("Restarting.")
    reloading.process.send_signal(signal.SIGINT)

    assert reloading.process.wait(40) == 0
    assert session(reloading.process.pid) == []


def test_the_server_ends_with_a_command_that_was_killed(reloading: Reloading) -> None:
    reloading.process.kill()
    reloading.process.wait(10)

    end = time.monotonic() + SECONDS
    while running := session(reloading.process.pid):
        assert time.monotonic() < end, running
        time.sleep(0.05)


def test_changes_are_files_written_made_and_removed(tmp_path: Path) -> None:
    kept, written, removed = (tmp_path / name for name in ("kept.py", "written.py", "removed.html"))
    for file in (kept, written, removed):
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
def test_a_syntax_error_has_its_file_and_line(source: bytes, line: int | None, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_bytes(source)

    [sentence] = syntax_errors([file, tmp_path / "gone.py", tmp_path / "style.css"])

    found = re.fullmatch(rf"{re.escape(str(file))}(?:, line (\d+))?: .+", sentence)
    assert found
    assert line is None or int(found[1]) == line


def test_the_sources_are_those_that_people_edit(tmp_path: Path) -> None:
    paths = list(source_paths(tmp_path / "pressroom.toml", tmp_path / "plugins"))

    assert paths[:2] == [tmp_path / "pressroom.toml", tmp_path / "plugins"]
    assert any(path.name == "pressroom" for path in paths)
    assert not any("site-packages" in path.parts for path in paths)
