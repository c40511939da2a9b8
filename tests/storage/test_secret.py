import multiprocessing
import stat
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from pressroom.config.models import Settings
from pressroom.errors import BackendError, ConfigError
from pressroom.storage.files import load_or_create_secret, signing_secret


def test_a_secret_is_created_once_and_stored(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "pressroom"
    secret = load_or_create_secret(folder)
    assert len(secret) == 32
    assert load_or_create_secret(folder) == secret
    assert [path.name for path in folder.iterdir()] == ["secret.key"]


def test_two_installations_have_different_secrets(tmp_path: Path) -> None:
    assert load_or_create_secret(tmp_path / "one") != load_or_create_secret(tmp_path / "two")


def test_only_the_owner_may_read_the_secret(tmp_path: Path) -> None:
    load_or_create_secret(tmp_path)
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600


def _start(folder: Path, together: Barrier, queue: "multiprocessing.SimpleQueue[bytes]") -> None:
    together.wait(60)
    queue.put(load_or_create_secret(folder))


def test_processes_that_start_concurrently_agree(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    together, queue = context.Barrier(6), context.SimpleQueue()
    processes = [context.Process(target=_start, args=(tmp_path, together, queue)) for _ in range(6)]
    for process in processes:
        process.start()
    secrets = {queue.get() for _ in processes}
    for process in processes:
        process.join()
    assert secrets == {load_or_create_secret(tmp_path)}
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


@pytest.mark.parametrize(
    "content", [b"", b"short\n", b"0" * 63, b"g" * 64, b"\xff" * 64, b"0" * 64 + b"\n" + b"0" * 64]
)
def test_a_damaged_secret_is_reported_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret.key"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        load_or_create_secret(tmp_path)
    assert str(path) in raised.value.message
    assert "delete it" in raised.value.hint
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BackendError, match=r"secret\.key can be neither read nor made: Not a directory"):
        load_or_create_secret(tmp_path / "file" / "data")


def test_a_configured_secret_is_used_and_none_is_stored(tmp_path: Path) -> None:
    settings = Settings.model_validate({"secret_key": "sixteen bytes ok", "storage": {"path": tmp_path}})
    assert signing_secret(settings) == b"sixteen bytes ok"
    assert list(tmp_path.iterdir()) == []
