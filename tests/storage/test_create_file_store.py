import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from pressroom.config.models import S3Settings, Settings
from pressroom.errors import ConfigError
from pressroom.sdk import FileStore
from pressroom.storage.files import LocalFileStore, create_file_store
from pressroom.storage.files.s3 import S3FileStore


def settings(tmp_path: Path, **storage: object) -> Settings:
    return Settings.model_validate({"base_url": "https://example.org/", "storage": {"path": tmp_path, **storage}})


async def test_files_are_kept_in_the_storage_folder_by_default(tmp_path: Path) -> None:
    store = create_file_store(settings(tmp_path))
    assert isinstance(store, LocalFileStore)
    await store.open()
    await store.write("qr/0123.png", b"png", media_type="image/png")
    await store.close()
    assert (tmp_path / "files" / "qr" / "0123.png").read_bytes() == b"png"
    assert (tmp_path / "secret.key").exists()


def test_a_bucket_is_used_where_one_is_named(tmp_path: Path) -> None:
    store = create_file_store(settings(tmp_path, files="s3://bucket/prefix"))
    assert isinstance(store, FileStore)
    assert not isinstance(store, LocalFileStore)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no file store named 'cloud'") as raised:
        create_file_store(settings(tmp_path, files="cloud"))
    assert "s3://bucket/prefix" in raised.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "s3://",
        "s3:///x",
        "s3://B",
        "s3://b/../c",
        "s3://bucket//x",
        "s3://bucket/x?region=eu",
        "s3://k:s@bucket/x",
        "s3://bucket/.x",
    ],
)
def test_an_address_that_is_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"\[storage\] files"):
        S3FileStore(url, S3Settings())


@pytest.mark.parametrize("half", ["access_key_id", "secret_access_key"])
def test_half_of_the_credentials_is_refused(tmp_path: Path, half: str) -> None:
    with pytest.raises(ConfigError, match="one is set, the other is not") as raised:
        create_file_store(settings(tmp_path, files="s3://bucket", s3={half: "hidden"}))
    assert "hidden" not in raised.value.message


def test_a_missing_s3_library_is_named() -> None:
    script = """
        import sys
        sys.modules["s3fs"] = None
        from pressroom.config.models import Settings
        from pressroom.errors import ConfigError
        from pressroom.storage.files import create_file_store
        try:
            create_file_store(Settings.model_validate({"storage": {"files": "s3://bucket"}}))
        except ConfigError as error:
            print(error.message, error.hint)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert "s3://bucket, but the package s3fs is not installed" in done.stdout
    assert "pressroom[s3]" in done.stdout


def test_the_local_store_does_not_load_the_s3_libraries() -> None:
    script = "import sys, pressroom.storage.files; print(sorted({'s3fs', 'botocore', 'aiohttp'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"
