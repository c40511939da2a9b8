"""Imports that are interrupted in one plugin, or go on in another thread, do not disturb others."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from threading import Event, Thread

from pressroom.gate.deadlines import alarm
from support.commands import run_command
from support.plugin_source import SOUND, install_plugin

LIBRARY = """
import shared_library.ready
import shared_library.slow

VALUE = shared_library.ready.VALUE
"""
SLOW_ONCE = """
import time
from pathlib import Path

first = Path(__file__).with_name("first")
if first.exists():
    first.unlink()
    time.sleep(600)
"""


def test_an_interrupted_library_import_works_for_the_next_plugin(tmp_path: Path) -> None:
    library = tmp_path / "own/shared_library"
    library.mkdir(parents=True)
    for name, source in {"__init__": LIBRARY, "ready": "VALUE = 1\n", "slow": SLOW_ONCE}.items():
        (library / f"{name}.py").write_text(source)
    (library / "first").touch()
    for id_ in ("early", "late"):
        install_plugin(tmp_path / "own", id_, f"import shared_library\n{SOUND}")
    (tmp_path / "pressroom.toml").write_text("builtin_plugins = false\n[plugins.early]\n[plugins.late]\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "own"), "PRESSROOM_SERVER__START_TIMEOUT": "1"}
    result = run_command(["plugins", "list", "--json"], cwd=tmp_path, env=environment)
    states = {record["id"]: (record["status"], record["error"]) for record in json.loads(result.stdout)}
    assert states["early"][0] == "broken"
    assert "did not end within 1 s" in states["early"][1]
    assert states["late"] == ("active", "")


def test_plugins_can_be_called_while_another_thread_imports() -> None:
    interval, finished = sys.getswitchinterval(), Event()
    names = [f"imported_beside_{number}" for number in range(200)]

    def imports() -> None:
        while not finished.is_set():
            for name in names:
                sys.modules[name] = sys
            for name in names:
                del sys.modules[name]

    thread = Thread(target=imports)
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(20_000):
            with alarm(60, lambda: None):
                pass
    finally:
        finished.set()
        thread.join()
        sys.setswitchinterval(interval)
