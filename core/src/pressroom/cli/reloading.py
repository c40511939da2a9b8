"""`pressroom serve --reload`: a server in a process of its own, started anew whenever one of its sources changes.

Sanic's `auto_reload` does not work in a server of a single process. Polling needs no dependency, and it works in
containers and on network drives, where events of the file system get lost.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import signal
import site
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from pressroom.cli.output import Output

POLL_SECONDS: Final = 0.3
_SETTLE_SECONDS: Final = 0.1
"""How long files must stay as they are after a change: editors and version control write several."""

_IN_FLIGHT_SECONDS: Final = 1
_STOP_SECONDS: Final = 8.0
"""How long the server may take to end: longer than it gives itself, so that it removes what it made."""

_TIMES: Final = {
    "PRESSROOM_SERVER__SHUTDOWN_TIMEOUT": str(_IN_FLIGHT_SECONDS),
    "PRESSROOM_SERVER__SHUTDOWN_DELAY": "0",
}

State: TypeAlias = Mapping[Path, tuple[int, int, int]]
"""Each file with what changes when it is written: the time, the size and the inode."""


def reload_until_told(output: Output, arguments: Sequence[str], watched: Callable[[], Iterable[Path]]) -> None:
    """Run `pressroom` with these arguments until SIGINT or SIGTERM, and start it anew when a file changes.

    A change that leaves a Python file with a syntax error is reported, and the server runs on as it was. A server that
    ends by itself is started with the next change.

    Args:
        output: where changes and errors are reported to.
        arguments: those of the command, without `--reload`.
        watched: returns the files and folders to watch; called before each start.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server: subprocess.Popen[bytes] | None = None
    try:
        while True:
            paths = list(watched())
            before = state_of(paths)
            server = _started(arguments)
            _wait_for_change(output, server, paths, before)
            stop(server)
    except KeyboardInterrupt:
        if server is not None:
            _stop_at_once_if_told_again(server)


def source_paths(config_file: Path | None, plugins_dir: Path | None) -> Iterator[Path]:
    """Yield the sources of a server: its configuration, its plugins, and Pressroom itself.

    Packages in `site-packages` are left out: an installer puts them there as a whole. What remains are clones, packages
    that are installed as editable, and folders of `PYTHONPATH`.
    """
    from pressroom.plugins.discovery import discover  # noqa: PLC0415 - reads the metadata of all packages

    if config_file is not None:
        yield config_file.absolute()
    if plugins_dir is not None:
        yield plugins_dir.absolute()
    importlib.invalidate_caches()
    installed = _installed_folders()
    packages = {candidate.module.partition(":")[0].partition(".")[0] for candidate in discover()}
    for package in sorted({"pressroom", *packages}):
        for path in _package_paths(package):
            if not any(path.is_relative_to(folder) for folder in installed):
                yield path


def state_of(paths: Iterable[Path]) -> State:
    """Return the state of these files, and of all files in these folders but caches and hidden ones."""
    found: dict[Path, tuple[int, int, int]] = {}
    for path in paths:
        for file in [path] if not path.is_dir() else _files(path):
            try:
                status = file.stat()
            except OSError:
                continue  # it was removed, or is not there yet
            found[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def changed(before: State, after: State) -> list[Path]:
    """Return the files that were made, written or removed."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def syntax_errors(files: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence for each of these Python files that cannot be parsed, with the file and the line."""
    for file in files:
        if file.suffix != ".py":
            continue
        try:
            ast.parse(file.read_bytes(), filename=str(file))
        except OSError:
            continue
        except SyntaxError as error:
            yield f"{file}, line {error.lineno or 1}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            yield f"{file}: {str(error) or type(error).__name__}"


def stop(server: subprocess.Popen[bytes]) -> None:
    """End a server and wait for it. One that does not end is killed.

    Raises:
        KeyboardInterrupt: the command is told to end meanwhile; the server may still run.
    """
    try:
        if os.name == "nt" and server.stdin is not None:
            server.stdin.close()  # what `terminate` sends there kills
        elif server.poll() is None:
            server.terminate()
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    finally:
        if server.stdin is not None:
            server.stdin.close()


def _stop_at_once_if_told_again(server: subprocess.Popen[bytes]) -> None:
    try:
        stop(server)
    except KeyboardInterrupt:
        server.kill()
        server.wait()


def _wait_for_change(output: Output, server: subprocess.Popen[bytes], paths: Sequence[Path], before: State) -> None:
    """Return once sources differ from those that the server was started with, and can be parsed."""
    seen = before
    ended = False
    while True:
        if ended:
            _pause(POLL_SECONDS)
        elif _ended_within(server, POLL_SECONDS):
            ended = True
            output.note(f"The server has ended (exit code {server.returncode}). It starts again when a file changes.")
        now = _settled(paths, seen)
        if now == seen:
            continue
        seen = now
        files = changed(before, now)
        errors = list(syntax_errors(files))
        if files and not errors:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            output.note(f"Changed: {files[0]}{more}. Restarting.")
            return
        for error in errors:
            output.note(f"{error}. The server runs on as it was; the next change is tried again.")


def _settled(paths: Sequence[Path], seen: State) -> State:
    """Return the state of the files; where it is another than before, once they stay as they are."""
    now = state_of(paths)
    while now != seen:
        _pause(_SETTLE_SECONDS)
        seen, now = now, state_of(paths)
    return now


def _ended_within(server: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        server.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def _started(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    # As this process was started: with or without the current folder on the path.
    path = [] if "-m" in sys.orig_argv and not sys.flags.safe_path else ["-P"]
    return subprocess.Popen(  # noqa: S603 - no shell
        [sys.executable, *path, "-m", "pressroom.cli.reloading", *arguments],
        stdin=subprocess.PIPE,
        env={**os.environ, **_TIMES},
        # Ctrl-C reaches this process alone, which ends the server: its workers would write tracebacks.
        process_group=0 if os.name == "posix" else None,
    )


def _files(folder: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(folder):
        folders[:] = [one for one in folders if one != "__pycache__" and not one.startswith(".")]
        yield from (Path(name, one) for one in files if not one.startswith(".") and not one.endswith(("~", ".pyc")))


def _package_paths(package: str) -> list[Path]:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return [Path(folder).resolve() for folder in spec.submodule_search_locations]
    return [Path(spec.origin).resolve()] if spec.has_location and spec.origin else []


def _installed_folders() -> list[Path]:
    names = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sysconfig.get_path("stdlib")]
    return [Path(name).resolve() for name in {*names, *site.getsitepackages(), site.getusersitepackages()}]


def _stop_with_parent() -> None:
    """Stop this server once the process that watches is gone, which closes the pipe, whatever ended it."""
    pipe = sys.stdin.fileno()

    def watch() -> None:
        # Not through `sys.stdin`, whose lock a thread must not hold when the process ends.
        while os.read(pipe, 1):
            pass
        if os.name == "nt":
            signal.raise_signal(signal.SIGTERM)
        else:
            os.kill(os.getpid(), signal.SIGTERM)  # reaches the main thread, wherever it waits

    threading.Thread(target=watch, name="pressroom-reload", daemon=True).start()


if __name__ == "__main__":
    from pressroom.cli import main

    _stop_with_parent()
    sys.exit(main())
