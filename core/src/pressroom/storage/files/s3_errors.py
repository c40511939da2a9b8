"""Explain the errors of an S3-compatible service to the operator."""

from __future__ import annotations

from typing import Final

import aiohttp
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
    SSLError,
)
from botocore.parsers import ResponseParserError

FAILURES: Final = (OSError, BotoCoreError, ClientError, ResponseParserError, aiohttp.ClientError)
"""The exceptions of calls through s3fs for faults of the service, the network or the configuration."""

PERMISSIONS_HINT: Final = "Allow the key s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket on the bucket."

_SILENT: Final = (
    "it did not respond in time",
    "Check that the service is up and that this machine reaches it, or raise [storage.s3] timeout.",
)
_REGION: Final = ("the bucket is in another region", "Set [storage.s3] region to the bucket's region.")
_FORBIDDEN: Final = ("the key may not do this", PERMISSIONS_HINT)
_NO_CREDENTIALS: Final = (
    "there are no credentials",
    "Set [storage.s3] access_key_id and secret_access_key, or give them by the environment.",
)
_TEMPORARY_CREDENTIALS: Final = ("the temporary credentials are no longer valid", "Renew them.")

_BY_CODE: Final[dict[str, tuple[str, str]]] = {
    "InvalidAccessKeyId": ("it does not know the access key id", "Check [storage.s3] access_key_id."),
    "SignatureDoesNotMatch": (
        "the secret key does not belong to the access key id",
        "Check [storage.s3] access_key_id and secret_access_key.",
    ),
    "AccessDenied": _FORBIDDEN,
    "AllAccessDisabled": _FORBIDDEN,
    "403": _FORBIDDEN,
    "NoSuchBucket": ("the bucket does not exist", "Create the bucket, or correct [storage] files."),
    "InvalidBucketName": ("the bucket's name is not a valid one", "Correct [storage] files."),
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "301": _REGION,
    "RequestTimeTooSkewed": ("this machine's clock is wrong", "Set it, and keep it right with NTP."),
    "ExpiredToken": _TEMPORARY_CREDENTIALS,
    "InvalidToken": _TEMPORARY_CREDENTIALS,
    "RequestTimeout": _SILENT,
}

_BY_TYPE: Final[tuple[tuple[type[Exception] | tuple[type[Exception], ...], tuple[str, str]], ...]] = (
    ((TimeoutError, ConnectTimeoutError, ReadTimeoutError), _SILENT),
    (SSLError, ("its certificate is not accepted", "Check [storage.s3] endpoint_url and the certificate.")),
    ((NoCredentialsError, PartialCredentialsError, CredentialRetrievalError), _NO_CREDENTIALS),
    (
        (EndpointConnectionError, ConnectionError, aiohttp.ClientConnectionError),
        ("it cannot be reached", "Check [storage.s3] endpoint_url, the network, and that the service is up."),
    ),
    (
        (HTTPClientError, aiohttp.ClientError),
        ("the connection broke off", "Check [storage.s3] endpoint_url and the log of the service."),
    ),
)


_UNREACHABLE: Final = (
    TimeoutError,
    ConnectionError,
    ConnectTimeoutError,
    ReadTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    aiohttp.ClientError,
)


def is_unreachable(error: BaseException) -> bool:
    """Return whether the service sent no response at all, not even an error."""
    return isinstance(error, _UNREACHABLE) and not service_code(error)


def service_code(error: BaseException) -> str:
    """Return the service's error code, or the HTTP status; empty if it sent neither."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ClientError):
            return str(cause.response.get("Error", {}).get("Code", ""))
        cause = cause.__cause__
    return ""


def explain(error: Exception) -> tuple[str, str]:
    """Return a description of the problem, and advice for the operator."""
    code = service_code(error)
    if code in _BY_CODE:
        return _BY_CODE[code]
    for kinds, explanation in _BY_TYPE:
        if isinstance(error, kinds):
            return explanation
    description = f"it returned {code}: {error}" if code else f"{type(error).__name__}: {error}"
    return description, "Check the [storage.s3] settings and the log of the service."
