"""Storage of generated files: a local folder, or a bucket of an S3-compatible service."""

from __future__ import annotations

from pressroom.config.models import Settings
from pressroom.errors import ConfigError
from pressroom.sdk.backends import FileStore
from pressroom.storage.files.local import LocalFileStore
from pressroom.storage.files.signing import (
    MediaTypes,
    UrlSigner,
    UrlStatus,
    content_disposition,
    is_key,
    load_or_create_secret,
    signing_secret,
    url_path,
)

__all__ = [
    "LocalFileStore",
    "MediaTypes",
    "UrlSigner",
    "UrlStatus",
    "content_disposition",
    "is_key",
    "load_or_create_secret",
    "local_files",
    "s3_files",
    "signing_secret",
    "url_path",
]


def local_files(settings: Settings) -> FileStore:
    """Return the unopened store for the folder `files` in `[storage] path`.

    Raises:
        BackendError: its secret key can be neither read nor created.
    """
    signer = UrlSigner(signing_secret(settings))
    return LocalFileStore(settings.storage.path / "files", signer, settings.public_url)


def s3_files(settings: Settings) -> FileStore:
    """Return the unopened store for the bucket in `[storage] files`.

    Raises:
        ConfigError: the URL contains no bucket, or a package for S3 is not installed.
    """
    url = settings.storage.files
    try:
        from pressroom.storage.files.s3 import S3FileStore  # noqa: PLC0415 - s3fs takes most of a second to import
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"[storage] files is {url}, but the package {error.name} is not installed",
            hint='Install Pressroom with S3 support: pip install "pressroom[s3]".',
        ) from error
    return S3FileStore(url, settings.storage.s3)
