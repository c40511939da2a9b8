"""The contracts of authenticators and authorizers (`pressroom.sdk.Authenticator`, `pressroom.sdk.Authorizer`)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from pressroom.sdk import Authenticator, Authorizer, Caller, Credentials, Generator, Identity, Rejected
from pressroom.testing.contracts.generator import describe
from pressroom.testing.contracts.records import ANONYMOUS, SOMEBODY, RecordInHost, check_record
from pressroom.testing.contracts.suite import ContractSuite, Finding, PromiseBroken, expect
from pressroom.testing.running import RunningHost

_SECONDS: Final = 10.0
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class KnownCredentials:
    """Headers with a valid credential for an authenticator, and with an invalid one of the same kind."""

    valid: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)


KnownAuthenticator: TypeAlias = RecordInHost[tuple[Authenticator, KnownCredentials]]

AUTHENTICATOR: Final = ContractSuite[KnownAuthenticator]("authenticator")
AUTHORIZER: Final = ContractSuite[RecordInHost[Authorizer]]("authorizer")


def check_authenticator(
    running: RunningHost, name: str, *, valid: Mapping[str, str] | None = None, wrong: Mapping[str, str] | None = None
) -> list[Finding]:
    """Check an authenticator of a running host against the contract, and return the findings.

    Args:
        running: the host, with the plugin.
        name: the name of the authenticator.
        valid: headers with a credential that it accepts.
        wrong: headers with a credential of its kind that it rejects. Without `valid` and `wrong`, only the promises
            about missing credentials and other kinds are checked.

    Raises:
        LookupError: no active plugin offers this authenticator.
    """
    for contribution in running.host.compiled.plugins.contributions.of(Authenticator):
        if contribution.record.name == name:
            known = KnownCredentials(dict(valid or {}), dict(wrong or {}))
            return check_record(
                AUTHENTICATOR, running, contribution.plugin, (contribution.record, known), f"authenticator {name}"
            )
    raise LookupError(f"no active plugin offers the authenticator {name!r}")


async def _ask(subject: KnownAuthenticator, headers: Mapping[str, str]) -> Identity | None:
    lowered = {name.lower(): value for name, value in headers.items()}
    authorization = lowered.get("authorization", "")
    bearer = authorization[7:].strip() if authorization[:7].lower() == "bearer " else ""
    credentials = Credentials(bearer=bearer, client_ip=ANONYMOUS.client_ip, headers=lowered)
    authenticator, _ = subject.record
    return await subject.on_host(lambda: authenticator.authenticate(credentials), seconds=_SECONDS)


async def _expect_unknown(subject: KnownAuthenticator, headers: Mapping[str, str]) -> None:
    try:
        identity = await _ask(subject, headers)
    except Rejected as error:
        raise PromiseBroken(f"Rejected: {error.message}") from error
    expect(identity is None, identity)


@AUTHENTICATOR.promise(
    "a call without a credential is anonymous",
    fix="return None if the credential is missing, before you read anything from it",
)
async def _missing(subject: KnownAuthenticator) -> None:
    await _expect_unknown(subject, {})
    await _expect_unknown(subject, {"authorization": ""})
    await _expect_unknown(subject, {"authorization": "Bearer "})


@AUTHENTICATOR.promise(
    "a credential of another kind is left to other authenticators",
    fix="return None for what does not look like your credentials; raise Rejected only for your own kind",
)
async def _other_kind(subject: KnownAuthenticator) -> None:
    for authorization in (f"Bearer {secrets.token_urlsafe(32)}", "Basic dXNlcjpwYXNz", "Bearer x" * 500):
        await _expect_unknown(subject, {"authorization": authorization})


@AUTHENTICATOR.promise(
    "unusual headers raise nothing but Rejected",
    fix="expect headers with any characters and any length, and missing headers",
)
async def _odd(subject: KnownAuthenticator) -> None:
    names = {"authorization", *subject.record[1].valid, *subject.record[1].wrong}
    for value in ("", " ", "\u00e4\u00f6\u00fc", "\ud83d\ude00"[:1], "x" * 8000, "Bearer", "Bearer a b c", "=;,\"'"):
        try:
            await _ask(subject, dict.fromkeys(names, value))
        except Rejected:
            continue


@AUTHENTICATOR.promise(
    "two simultaneous credentials are told apart", fix="do not keep state of one call where another call can change it"
)
async def _at_once(subject: KnownAuthenticator) -> None:
    valid = subject.record[1].valid
    if not valid:
        await asyncio.gather(*(_expect_unknown(subject, {"authorization": f"Bearer other-{n}"}) for n in range(10)))
        return
    alone = await _ask(subject, valid)
    identities = await asyncio.gather(*(_ask(subject, valid if number % 2 else {}) for number in range(20)))
    expect(identities == [None, alone] * 10, f"{identities[:4]}")


@AUTHENTICATOR.promise(
    "a valid credential returns an identity with a subject and a plan", fix="return Identity(subject=…, plan=…)"
)
async def _valid(subject: KnownAuthenticator) -> None:
    if subject.record[1].valid:
        identity = await _ask(subject, subject.record[1].valid)
        expect(type(identity) is Identity and identity.subject and identity.plan, identity)


@AUTHENTICATOR.promise(
    "a wrong credential of its kind raises Rejected, and gets 401 over HTTP",
    fix="raise pressroom.sdk.Rejected with a sentence that says how to get a valid one; never return None for it",
)
async def _wrong(subject: KnownAuthenticator) -> None:
    wrong = subject.record[1].wrong
    if not wrong:
        return
    try:
        identity = await _ask(subject, wrong)
    except Rejected:
        pass
    else:
        raise PromiseBroken(f"{identity!r}")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    response = await subject.http.post("/api/mcp", json=body, headers=dict(wrong))
    expect(response.status_code == _UNAUTHORIZED, describe(response))


@AUTHORIZER.promise(
    "it returns None or a reason, for every tool and every caller",
    fix="return None to allow the call, or a sentence that says why not; an exception refuses it without a reason",
)
async def _decides(subject: RecordInHost[Authorizer]) -> None:
    for tool in subject.running.host.compiled.catalog.tools.values():
        for caller in (ANONYMOUS, SOMEBODY):
            reason = await _decision(subject, caller, tool.name)
            fits = reason is None or (type(reason) is str and reason.strip() != "")
            expect(fits, f"{reason!r} for {tool.name}")


@AUTHORIZER.promise(
    "the reason for a refusal reaches the client", fix="return the reason as text that users understand"
)
async def _reason(subject: RecordInHost[Authorizer]) -> None:
    local = Caller("127.0.0.1")
    for entry in subject.running.host.compiled.catalog.plans["anonymous"].generators:
        declaration = entry.tool.declaration
        reason = await _decision(subject, local, entry.tool.name)
        if reason is None or not isinstance(declaration, Generator) or not declaration.examples:
            continue
        body = dict(declaration.examples[0].params)
        response = await subject.http.post(f"/tools/{declaration.slug}/api/generate", json=body)
        message = response.json().get("error", {}).get("message", "") if response.status_code == _FORBIDDEN else ""
        expect(str(reason) in message, f"{describe(response)} where it returned {reason!r}")
        return


async def _decision(subject: RecordInHost[Authorizer], caller: Caller, tool: str) -> str | None:
    info = subject.running.host.compiled.catalog.tools[tool].info
    return await subject.on_host(lambda: subject.record.authorize(caller, info), seconds=_SECONDS)
