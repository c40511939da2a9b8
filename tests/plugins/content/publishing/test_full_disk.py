"""A full database disk: nothing is published twice, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support import disks
from support.disks import namespace


def test_publishing_resumes_once_the_disk_has_space_again(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    script = f'{disks._MOUNT} && exec "$3" -m support.publishing_on_disk "$2" "$4"'
    command = [*namespace(folder), script, "sh", "6m", str(folder), sys.executable, str(tmp_path / "site")]
    environment = {**os.environ, "PYTHONPATH": str(Path(disks.__file__).parents[1])}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
