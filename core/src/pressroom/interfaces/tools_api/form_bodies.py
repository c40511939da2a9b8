"""Read the submitted forms of tool pages within limits, and convert them to the input of the API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import orjson
from sanic import Request
from sanic.exceptions import PayloadTooLarge as SanicPayloadTooLarge

from pressroom.errors import CallError, InvalidInput, PayloadTooLarge, UnsupportedMediaType
from pressroom.http.responses import receive_body
from pressroom.interfaces.tools_api.pages import input_from_form, parse_form
from pressroom.interfaces.tools_api.pages.forms import MAX_FIELDS
from pressroom.interfaces.tools_api.pages.uploads import kilobytes, max_file_bytes, too_large, with_files
from pressroom.interfaces.tools_api.routes import read_without_blocking
from pressroom.sdk import MultipartForm, UploadedFile, parse_multipart
from pressroom.validation.json import parse_object

FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"

MAX_FORM_BYTES: Final = 8_388_608
"""Maximum size of a form with files. Larger than the usual limit, so a single oversized file is reported by field."""

_MAX_LARGE_FORMS: Final = 4
"""Maximum number of forms above the usual limit that a process reads at once."""

_FILES_AND_TEXTS: Final = 4
"""The usual limit of a form as a multiple of the largest input: it can include files of earlier attempts as text."""

Shrink = Callable[[Request, bytes, Sequence[str], int], Awaitable[bytes]]

ReadForm = tuple[Mapping[str, Sequence[str]], dict[str, Any] | CallError]
"""The readable fields of a form, and the arguments or the error."""


class FormBodies:
    """Reads the forms of all tools. Images that are too large for their parameters are scaled down.

    `max_body` is the maximum size of an API body and of the input. `shrink` calls
    `pressroom.graphics.thumbnails.within_bytes` in a worker process.
    """

    def __init__(self, max_body: int, shrink: Shrink) -> None:
        self._max_body = max_body
        self._shrink = shrink
        self._large = 0

    async def read(self, request: Request, descriptor: Mapping[str, Any]) -> ReadForm:
        """Receive and parse the form of a request whose body has not been read.

        Raises:
            sanic.exceptions.RequestTimeout: the body did not arrive in time.
        """
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        default_limit = self._max_body * (_FILES_AND_TEXTS if media_type == MULTIPART else 1)
        with self._bound(request, media_type, min(default_limit, MAX_FORM_BYTES)) as bound:
            try:
                await receive_body(request, bound)
            except SanicPayloadTooLarge:
                return {}, PayloadTooLarge(
                    f"the form may have at most {kilobytes(bound)} with its files; go back, what you typed is still "
                    "there, and choose a smaller file"
                )
            try:
                submitted = await read_without_blocking(partial(self._parsed, media_type=media_type), request)
            except CallError as error:
                return {}, error
            params = descriptor["endpoints"][0]["params"]
            files, refused = await self._smaller(request, params, submitted.files)
            submitted = MultipartForm(submitted.texts, files)
            return await read_without_blocking(lambda _: self._read(submitted, descriptor, refused), request)

    async def _smaller(
        self, request: Request, params: Sequence[Any], files: Mapping[str, list[UploadedFile]]
    ) -> tuple[dict[str, list[UploadedFile]], CallError | None]:
        """Return the files of a form, with oversized ones scaled down, and the first error or `None`.

        Files that could not be scaled down are left out.
        """
        smaller, refused = dict(files), None
        for param, content in too_large(params, files):
            name = param["name"]
            try:
                smaller[name] = [
                    UploadedFile(await self._shrink(request, content, param["files"], max_file_bytes(param)))
                ]
            except CallError as error:
                smaller[name] = []
                refused = refused or (InvalidInput(name, error.problem) if isinstance(error, InvalidInput) else error)
        return smaller, refused

    @contextmanager
    def _bound(self, request: Request, media_type: str, default_limit: int) -> Iterator[int]:
        """Yield the maximum size of a form: larger than usual while few such forms are being read."""
        declared = request.headers.get("content-length", "")
        is_large = declared.isdecimal() and len(declared) < 20 and int(declared) > default_limit
        if media_type != MULTIPART or not is_large or self._large >= _MAX_LARGE_FORMS:
            yield default_limit
            return
        self._large += 1
        try:
            yield MAX_FORM_BYTES
        finally:
            self._large -= 1

    def _read(self, submitted: MultipartForm, descriptor: Mapping[str, Any], refused: CallError | None) -> ReadForm:
        params = descriptor["endpoints"][0]["params"]
        form, problem = with_files(params, submitted.texts, submitted.files)
        if (error := refused or problem) is not None:
            return form, error
        try:
            body = orjson.dumps(input_from_form(params, form, descriptor["page"]["switch"]))
            if len(body) > self._max_body:
                raise PayloadTooLarge(
                    f"what the form holds is too large together: {kilobytes(len(body))}, at most "
                    f"{kilobytes(self._max_body)}; choose smaller files"
                )
            return form, parse_object(body)  # the same validation as for the API
        except CallError as parse_error:
            return form, parse_error

    @staticmethod
    def _parsed(request: Request, media_type: str) -> MultipartForm:
        if media_type == MULTIPART:
            return parse_multipart(request.headers["content-type"], request.body, MAX_FIELDS)
        if media_type == FORM:
            return MultipartForm(parse_form(request.body))
        raise UnsupportedMediaType(f"a form is sent as {MULTIPART} or {FORM}; programs post JSON to the tool's API")
