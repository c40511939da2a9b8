"""Git's protocol over SSH (git-scm.com/docs/pack-protocol, "SSH Transport"), through the guarded fetcher."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final

import asyncssh
from pressroom.sdk import Fetcher, FetchFailed, FetchRefused, FetchUnknown
from pressroom_content.contract import (
    SiteError,
    SiteErrors,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)

from pressroom_git.protocol import (
    FLUSH,
    IN_PROCESS,
    MAX_PACK_BYTES,
    MAX_REFS_BYTES,
    MAX_REPORT_BYTES,
    PushReport,
    RequestFactory,
    packets,
    server_message,
)
from pressroom_git.ssh_keys import SIGNATURES, HostKeys, check_private_key, load_private_key, plain_key
from pressroom_git.ssh_url import SshUrl
from pressroom_git.ssh_wire import SshCommand, SshFlood, SshMeter, SshWire

_SECONDS: Final = 60.0
_UPLOAD, _RECEIVE = "git-upload-pack", "git-receive-pack"

_KEY_EXCHANGES: Final = (
    "-diffie-hellman-group-exchange-*,diffie-hellman-group17-*,diffie-hellman-group18-*,diffie-hellman-*-sha1,gss-*"
)
"""Excluded `kex` algorithms. Those with very large primes, or primes that the server chooses, take long each time, and
a server can rekey as often as it wants."""

_LATER = re.compile(
    r"internal|temporar|unavailable|time[d ]?.?out|too many|try again|maintenance|overload|rate limit|disk|memory",
    re.IGNORECASE,
)
"""Words in server messages about temporary errors that are not caused by the key."""


class SshTransport:
    """A repository on a git server over SSH. Implements `pressroom_git.protocol.GitTransport`.

    Each command uses a separate connection. The system's SSH configuration, agent, known hosts and keys are ignored.

    Args:
        fetcher: the host's guarded fetcher, which opens the connection.
        url: the repository.
        private_key: the private key as pasted.
        host_key: the accepted host keys as pasted; if empty, no host key is accepted.
    """

    def __init__(self, fetcher: Fetcher, url: SshUrl, private_key: str, host_key: str) -> None:
        self._fetcher = fetcher
        self._url = url
        self._typed_key, self._typed_host_key = private_key, host_key
        self._fingerprint = ""
        self.title = f"git at {url.authority}"
        self.run_in_worker = IN_PROCESS

    async def list_refs(self, ask: RequestFactory) -> tuple[bytes, bytes]:
        """Return the advertisement of branches, and the response to the request that `ask` creates from it."""
        command = await self._done(_UPLOAD, ask, MAX_REFS_BYTES)
        return command.advertisement, command.output

    async def fetch(self, request: bytes) -> bytes:
        """Return the response to a request for objects."""
        command = await self._done(_UPLOAD, _always(request), MAX_PACK_BYTES)
        response = command.output
        if not response:
            raise SiteUnavailable(
                f"{self.title} sent nothing: {server_message(command.stderr) or 'it did not say why'}"
            )
        return response

    async def push(self, request: bytes) -> PushReport:
        """Return the response to a push."""
        command = await self._done(_RECEIVE, _always(request), MAX_REPORT_BYTES)
        return PushReport(command.output, server_message(command.stderr))

    async def check_push(self) -> None:
        """Start a push and end it without sending anything."""
        await self._done(_RECEIVE, _always(b""), MAX_REPORT_BYTES)

    async def _done(self, service: str, ask: RequestFactory, max_bytes: int) -> SshCommand:
        """Run a command with the request that `ask` creates from its advertisement."""
        command = SshCommand(SshMeter(), first=MAX_REFS_BYTES, max_bytes=max_bytes)
        host_keys = HostKeys.parse(self._typed_host_key)
        key = await self._key()
        try:
            async with self._fetcher.connect(self._url.host, self._url.port, seconds=_SECONDS) as streams:
                await self._run(SshWire(*streams, command.meter), command, service, ask, host_keys, key)
        except SiteError:
            raise
        except Exception as error:  # noqa: BLE001 - asyncssh's parsers can raise anything
            # With a complete report, the push succeeded or failed as reported; a later error does not matter.
            if not (service == _RECEIVE and command.output.endswith(FLUSH)):
                raise self._error(error, changes=service == _RECEIVE and command.request_sent) from None
        return command

    async def _run(
        self, link: SshWire, command: SshCommand, service: str, ask: RequestFactory, host_keys: HostKeys, key: Any
    ) -> None:
        client = _Client(host_keys)
        try:
            connection = await asyncssh.connect(
                self._url.host,
                self._url.port,
                tunnel=link,
                config=None,
                **self._options(client, host_keys, key),
            )
        except asyncssh.HostKeyNotVerifiable:
            raise self._unknown_host(client, host_keys) from None
        except asyncssh.PermissionDenied:
            raise SiteRejected(
                f"{self.title} does not accept the private key {self._fingerprint} for the user {self._url.user}",
                hint="Add its public part to the repository as a deploy key with write access.",
            ) from None
        try:
            await connection.create_session(
                lambda: command,
                self._url.command(service),
                env={"GIT_PROTOCOL": "version=2"} if service == _UPLOAD else {},
                encoding=None,
                request_pty=False,
            )
            advertisement = await command.first_message()
            if not advertisement:
                raise self._not_opened(command)
            with suppress(BrokenPipeError):  # the server's response explains why it closed its input
                await command.send(await ask(advertisement) or FLUSH)
            await command.finished()
        finally:
            connection.close()
            await connection.wait_closed()

    def _options(self, client: _Client, host_keys: HostKeys, key: Any) -> Mapping[str, Any]:
        _name_this_user()
        return {
            "username": self._url.user,
            "client_factory": lambda: client,
            "client_keys": [key],
            "client_version": "Pressroom",
            "known_hosts": ([], [], []),  # an empty string would load the system's known hosts
            "server_host_key_algs": list(host_keys.algorithms),
            "signature_algs": list(SIGNATURES),
            "kex_algs": _KEY_EXCHANGES,
            "compression_algs": ["none"],
            "preferred_auth": ["publickey"],
            "password_auth": False,
            "kbdint_auth": False,
            "host_based_auth": False,
            "gss_host": None,
            "gss_kex": False,
            "gss_auth": False,
            "agent_path": None,
            "x509_trusted_certs": None,
            "x509_trusted_cert_paths": [],
            "login_timeout": _SECONDS,
        }

    async def _key(self) -> Any:
        """Return the private key, checking it in a worker process on first use."""
        key = plain_key(self._typed_key)
        if not self._fingerprint:
            self._fingerprint = await self.run_in_worker(check_private_key, key, what="the private key")
        return load_private_key(key)

    def _unknown_host(self, client: _Client, host_keys: HostKeys) -> SiteRejected:
        kind, fingerprint = client.presented
        presented = f"{self.title} shows the {kind} host key {fingerprint}"
        if not host_keys.fingerprints:
            return SiteRejected(
                f"{presented}, which has not been confirmed yet; nothing was sent to it",
                hint="Compare it with the fingerprint that the host publishes. If it is the same, enter it as the host "
                "key.",
            )
        expected = " or ".join(sorted(host_keys.fingerprints)[:3])
        return SiteRejected(
            f"{presented}, and not {expected}, which was entered for it; nothing was sent to it",
            hint="Either the host has a new key, or somebody is between this server and the host. Enter the new key "
            "only if the host publishes it.",
        )

    def _not_opened(self, command: SshCommand) -> SiteError:
        """Return the error for a command that does not start with git's protocol."""
        output = command.output
        message = server_message(command.stderr) or next(
            (
                server_message(packet[4:])
                for packet in packets(output)
                if packet is not None and packet.startswith(b"ERR ")
            ),
            "",
        )
        if message and _LATER.search(message):
            return SiteUnavailable(f"{self.title} does not open {self._url.path} at the moment: {message}")
        if message:
            return SiteRejected(
                f"{self.title} does not open {self._url.path} to this key: {message}",
                hint="Check the path, and that the key may read and write the repository.",
            )
        if output:
            return SiteRefused(f"{self.title} does not speak git's protocol, but says: {server_message(output)}")
        return SiteUnavailable(f"{self.title} ended the command without a response")

    def _error(self, error: Exception, *, changes: bool) -> SiteError:
        if isinstance(error, FetchFailed | FetchRefused) or (changes and isinstance(error, FetchUnknown)):
            return SiteErrors().no_response(self.title, error)
        if isinstance(error, FetchUnknown):
            return SiteUnavailable(f"{self.title} cannot be reached: {error.message}")
        reason = server_message(str(error)) or type(error).__name__
        if changes:
            return UnknownOutcome(f"{self.title} did not confirm whether it accepted the commit: {reason}")
        if isinstance(error, SshFlood):
            return SiteRefused(f"{self.title} cannot be used: {reason}")
        if isinstance(error, asyncssh.KeyExchangeFailed | asyncssh.ProtocolNotSupported):
            return SiteRefused(f"{self.title}: no secure connection could be made: {reason}")
        if isinstance(error, asyncssh.ChannelOpenError) and error.code != asyncssh.OPEN_CONNECT_FAILED:
            return SiteRefused(f"{self.title} does not run git commands for this key: {reason}")
        return SiteUnavailable(f"{self.title} closed the connection early: {reason}")


class _Client(asyncssh.SSHClient):
    """Compares the server's host key with the confirmed ones. Without a match, nothing is sent to the server."""

    def __init__(self, host_keys: HostKeys) -> None:
        self._known = host_keys
        self.presented = ("", "")

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Return whether the host key is confirmed."""
        del host, addr, port
        self.presented = (key.get_algorithm(), key.get_fingerprint())
        return key.get_fingerprint() in self._known.fingerprints


def _always(request: bytes) -> RequestFactory:
    async def ask(_advertisement: bytes) -> bytes:
        return request

    return ask


@cache
def _name_this_user() -> None:
    """Set a user name if the system has none, as in some containers, since asyncssh requires one."""
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = "pressroom"
