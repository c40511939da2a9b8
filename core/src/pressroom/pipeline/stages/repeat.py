"""Repeated calls of the same client: an earlier call's result is returned, and the tool does not run again."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import orjson
import structlog
from pydantic import BaseModel

from pressroom.accounts.client_requests import LEASE_SECONDS, ClientRequest, RequestKey, differing
from pressroom.catalog.tool import PlanTool
from pressroom.errors import (
    BackendError,
    CallError,
    CallTimeout,
    ClientLeft,
    Forbidden,
    InvalidInput,
    NotFound,
    Overloaded,
)
from pressroom.pipeline.context import Interface, RepeatableCall, ResolvedCall, Services, StoredResult, ValidatedCall
from pressroom.pipeline.stages.base import CallStage
from pressroom.sdk import AudioContent, ContentBlock, EmbeddedResource, McpTool, Params, ResourceLink, ToolResult
from pressroom.sdk.declaration import REQUEST_ID
from pressroom.validation.echo import cut

log = structlog.get_logger()

WAIT_SECONDS: Final = 10.0
"""How long a repeat waits for a running call, in seconds."""

_FIRST_PAUSE: Final = 0.05
_MAX_PAUSE: Final = 0.5
_MAX_NAMES: Final = 5
_MAX_RESULT_LENGTH: Final = 200

_OUTAGE: Final = "earlier calls cannot be looked up at the moment, so nothing was done; try again shortly"


class _RepeatStage(CallStage[ValidatedCall, ValidatedCall]):
    """A stage for tools whose parameters have a `ClientRequestId`. It ignores calls without one."""

    def __init__(self, services: Services) -> None:
        self._requests = services.client_requests

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Return whether clients can safely repeat calls of the tool."""
        declaration = plan_tool.tool.declaration
        return interface == "mcp" and isinstance(declaration, McpTool) and declaration.repeatable

    async def _find_result(self, call: ValidatedCall, repeatable: RepeatableCall) -> bool:
        """Set `result` to the earlier call's result, waiting if that call still runs, and return whether there was one.

        Raises `InvalidInput` if the id was used for a different call, and `Overloaded` if there is no result in time.
        """
        loop = asyncio.get_running_loop()
        end, pause = loop.time() + WAIT_SECONDS, _FIRST_PAUSE
        while True:
            try:
                earlier = await self._requests.find(repeatable.key)
            except BackendError as error:
                raise Overloaded(_OUTAGE) from error
            repeatable.resumed = earlier is not None and earlier.state == "cut_off"
            if earlier is None:
                return False
            _check_same(earlier, call, repeatable)
            if earlier.state == "completed":
                call.result, call.cached = _stored(earlier), True
                return True
            if repeatable.resumed:
                _check_resumes(earlier, call)
                return False
            if loop.time() >= end:
                raise Overloaded(
                    f"The call with this {REQUEST_ID} is still under way; this repeat did nothing. Send the same call "
                    "again in a moment to get its result.",
                    retry_after=2,
                )
            await asyncio.sleep(pause)
            pause = min(pause * 2, _MAX_PAUSE)


class Recall(_RepeatStage):
    """Looks up an earlier call with the same `client_request_id`. Its result costs no more than a cache hit.

    The stage precedes the limit and the quota: a client that lost a response can get it again even with both used up.
    """

    name = "recall"

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._most = services.settings.mcp.concurrency
        self._running: Counter[str] = Counter()

    async def enter(self, call: ValidatedCall) -> ValidatedCall:
        """Set `repeatable`, and `result` if the call was made before. Raises a `CallError`; see `_find_result`."""
        request_id: str | None = getattr(call.params, REQUEST_ID)
        if request_id is None:
            return call
        key = RequestKey(call.caller.subject, call.plan_tool.tool.name, request_id)
        repeatable = RepeatableCall(key, self._requests.fingerprint(_arguments(call)))
        self._acquire_slot(call)
        call.repeatable = repeatable
        await self._find_result(call, repeatable)
        return call

    async def undo(self, call: ResolvedCall, error: CallError | None) -> None:
        """Give the caller's place back."""
        if isinstance(call, ValidatedCall) and call.repeatable is not None:
            owner = _owner(call)
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]

    def _acquire_slot(self, call: ValidatedCall) -> None:
        """Take one of the caller's places, which the call keeps until it ends, even if its client leaves."""
        owner = _owner(call)
        if self._running[owner] >= self._most:
            raise Overloaded(
                f"This connection has {self._most} calls with a {REQUEST_ID} under way, the maximum at once. Wait "
                "until one of them has ended, then try again."
            )
        self._running[owner] += 1


class Claim(_RepeatStage):
    """Claims the `client_request_id`, and stores the result when the call ends.

    Of several identical calls at once, in any process, one gets the claim and runs; the others wait for its result.
    The stage follows the limit, so that refused calls write nothing, and precedes the quota, so that the last unit of
    a month is enough for all of them.
    """

    name = "claim"

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._renewals: dict[str, asyncio.Task[None]] = {}

    async def enter(self, call: ValidatedCall) -> ValidatedCall:
        """Claim the id, or set `result` if another call has ended meanwhile. Raises a `CallError`."""
        repeatable = call.repeatable
        if repeatable is None or call.cached:
            return call
        while True:
            try:
                token = await self._requests.claim(repeatable.key, repeatable.fingerprint, resume=repeatable.resumed)
            except NotFound:
                raise Forbidden(f"a {REQUEST_ID} can be used with an account only; leave it out") from None
            except BackendError as error:
                raise Overloaded(_OUTAGE) from error
            if token:
                repeatable.token = token
                self._renewals[token] = asyncio.create_task(self._renew(repeatable.key, token))
                return call
            if await self._find_result(call, repeatable):
                for give_back in reversed(call.when_shared):
                    await give_back()
                return call

    async def undo(self, call: ResolvedCall, error: CallError | None) -> None:
        """Store the result. The claim of a failed call is released, so that the call can be made again."""
        if not isinstance(call, ValidatedCall) or call.repeatable is None or not call.repeatable.token:
            return
        repeatable, declaration = call.repeatable, call.plan_tool.tool.declaration
        token, repeatable.token = repeatable.token, ""
        self._renewals.pop(token).cancel()
        resumes = isinstance(declaration, McpTool) and declaration.resumes
        try:
            if error is None:
                await self._requests.complete(repeatable.key, token, _encoded(call))
            elif isinstance(error, CallTimeout | ClientLeft) and not resumes:
                await self._requests.cut_off(repeatable.key, token)
            else:
                await self._requests.release(repeatable.key, token)
        except BackendError as failure:
            log.warning("the result of a call could not be stored", tool=repeatable.key.tool, error=failure.message)

    async def _renew(self, key: RequestKey, token: str) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            try:
                if not await self._requests.renew(key, token):
                    return
            except BackendError as error:
                log.warning("the claim of a call could not be renewed", tool=key.tool, error=error.message)


def _owner(call: ResolvedCall) -> str:
    return call.caller.connection or call.caller.subject


def _arguments(call: ValidatedCall) -> dict[str, str]:
    return {name: text for name, text in canonical_arguments(call.params).items() if name != REQUEST_ID}


def _check_same(earlier: ClientRequest, call: ValidatedCall, repeatable: RepeatableCall) -> None:
    """Refuse a call whose id belongs to one with other arguments."""
    names = differing(earlier.fingerprint, repeatable.fingerprint)
    if names == []:
        return
    when = _moment(earlier.made_at)
    if names is None:
        raise InvalidInput(
            REQUEST_ID,
            f"belongs to a call of {when}, from before this server's key was changed, so that the arguments cannot be "
            f"compared. Nothing was done. Choose another {REQUEST_ID}",
        )
    fields = ", ".join(names[:_MAX_NAMES]) + (" and others" if len(names) > _MAX_NAMES else "")
    declaration = call.plan_tool.tool.declaration
    changed_with = declaration.changed_with if isinstance(declaration, McpTool) else ""
    alternative = f", or use {changed_with} to change what that call made" if changed_with else ""
    raise InvalidInput(
        REQUEST_ID,
        f"belongs to a call of {when} with other values of {fields}. Nothing was done. Choose another {REQUEST_ID} for "
        f"something new{alternative}{_earlier_text(earlier)}",
    )


def _check_resumes(earlier: ClientRequest, call: ValidatedCall) -> None:
    """Refuse to rerun a call that was cut off if the tool cannot detect what has been done already."""
    declaration = call.plan_tool.tool.declaration
    if not isinstance(declaration, McpTool) or not declaration.resumes:
        raise InvalidInput(
            REQUEST_ID,
            f"belongs to a call of {_moment(earlier.made_at)} that was cut off, and it is unknown whether it took "
            f"effect. Nothing was done now. Check whether it did; if not, choose another {REQUEST_ID}",
        )


def _stored(earlier: ClientRequest) -> StoredResult:
    when = _moment(earlier.made_at)
    if earlier.result is None:
        raise InvalidInput(
            REQUEST_ID,
            f"belongs to this same call, which was made on {when} and succeeded. Nothing was done again. Its result "
            "was too large to keep: read what it made with the tool for that",
        )
    stored = _decoded(earlier.result)
    note = f"This call was made before, on {when}; nothing was done again. Its result was:\n"
    return StoredResult(note + stored.text, stored.data, stored.images, stored.content)


def _earlier_text(earlier: ClientRequest) -> str:
    """Return the first line of the earlier call's text, which describes what that call created."""
    if earlier.result is None:
        return ""
    lines = _decoded(earlier.result).text.splitlines()
    return f". Its result was: {cut(lines[0], _MAX_RESULT_LENGTH)}" if lines else ""


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d at %H:%M:%S} UTC"


def _encoded(call: ValidatedCall) -> bytes | None:
    """Serialise the result of a tool that ran, for storage; return `None` for anything else."""
    result = call.result
    if not isinstance(result, ToolResult | BaseModel):
        return None
    tool_result = result if isinstance(result, ToolResult) else ToolResult(call.data, result)
    return orjson.dumps(
        {
            "text": tool_result.text,
            "data": call.data,
            "images": [[media_type, b64encode(image).decode()] for media_type, image in tool_result.images],
            "content": [_block(block) for block in tool_result.content],
        }
    )


def _decoded(encoded: bytes) -> StoredResult:
    members = orjson.loads(encoded)
    return StoredResult(
        text=members["text"],
        data=members["data"],
        images=tuple((media_type, b64decode(image)) for media_type, image in members["images"]),
        content=tuple(_read_block(block) for block in members["content"]),
    )


def _block(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, ResourceLink):
        return {"link": asdict(block)}
    if isinstance(block, AudioContent):
        return {"media_type": block.media_type, "bytes": b64encode(block.data).decode()}
    content = block.content
    payload = {"text": content} if isinstance(content, str) else {"bytes": b64encode(content).decode()}
    return {"media_type": block.media_type, "uri": block.uri, **payload}


def _read_block(block: dict[str, Any]) -> ContentBlock:
    if "link" in block:
        return ResourceLink(**block["link"])
    if "uri" not in block:
        return AudioContent(b64decode(block["bytes"]), block["media_type"])
    content = block["text"] if "text" in block else b64decode(block["bytes"])
    return EmbeddedResource(block["uri"], content, block["media_type"])


def canonical(value: Any) -> str:
    """Serialise a JSON value so that equal values give the same text, whatever the order of their keys.

    `1` and `1.0` are equal, as in JSON.
    """
    return json.dumps(_with_whole_numbers(value), sort_keys=True, separators=(",", ":"))


def canonical_arguments(params: Params) -> dict[str, str]:
    """Return each argument's canonical text by name, leaving out arguments that have their default value."""
    defaults = _defaults(type(params))
    texts = {name: canonical(value) for name, value in params.model_dump(mode="json").items()}
    return {name: text for name, text in texts.items() if defaults.get(name) != text}


@lru_cache(maxsize=1024)
def _defaults(model: type[Params]) -> Mapping[str, str]:
    dumped = model.model_construct().model_dump(mode="json", warnings=False)
    return {name: canonical(value) for name, value in dumped.items()}


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _with_whole_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return value
