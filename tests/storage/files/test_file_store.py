"""The contract of every file store, local or in a bucket."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import ClassVar

import pytest
from pressroom.sdk import FileStore
from pressroom.testing.contracts import FileStoreContract

KEY = "qr-code-generator/0123456789abcdef0123456789abcdef.png"


@pytest.mark.parametrize("make_store", ["local", "swift"], indirect=True)
class TestFileStore(FileStoreContract):
    """The local store, and a bucket on a strict S3 server."""


@pytest.mark.parametrize("make_store", ["rclone"], indirect=True)
class TestFileStoreOfRclone(FileStoreContract):
    """A bucket on a lenient server."""

    excluded: ClassVar = {"whole": "rclone writes into the file that others read"}


async def test_a_url_ends_with_the_key(store: FileStore) -> None:
    await store.write(KEY, b"png", media_type="image/png")
    url = await store.url(KEY, expires=datetime.now(UTC).replace(microsecond=0) + timedelta(hours=3))
    assert url.partition("?")[0].endswith(f"/{KEY}")


async def test_a_key_that_is_refused_is_named(store: FileStore) -> None:
    with pytest.raises(ValueError, match="is not a key"):
        await store.read("../secret.key")


async def test_a_media_type_that_does_not_match_the_extension_is_refused(store: FileStore) -> None:
    with pytest.raises(ValueError, match="image/png, but it is text/html"):
        await store.write(KEY, b"<script>", media_type="text/html")
    assert not await store.has(KEY)
