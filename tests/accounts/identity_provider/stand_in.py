"""A stand-in identity provider that misbehaves in ways a real one would not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from joserfc import jws
from joserfc.jwk import RSAKey
from support.tcp_server import serving

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


@cache
def _key() -> RSAKey:
    """Return the signing key shared by all stand-ins: generating one takes longer than most tests."""
    return RSAKey.generate_key(2048, {"kid": "one"})


class StandIn:
    """Serves each path with its document or its entry in `replies`. `request_counts` counts the requests per path."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.key = _key()
        self.request_counts: dict[str, int] = {}
        self.replies: dict[str, Reply] = {}
        self.documents: dict[str, Any] = {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize?tenant=7",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
            },
            "/keys": {"keys": [dict(self.key.as_dict(private=False))]},
            "/userinfo": {"sub": "7", "email": "ada@example.com", "email_verified": True},
        }

    @property
    def metadata(self) -> dict[str, Any]:
        """The discovery document; tests may modify it."""
        document: dict[str, Any] = self.documents["/.well-known/openid-configuration"]
        return document

    def give(self, nonce: str, *, kid: str = "one", **claims: Any) -> None:
        """Make the token endpoint return a valid ID token, with some claims overridden."""
        now = int(time.time())
        default = {"iss": self.issuer, "sub": "7", "aud": "basic", "iat": now, "exp": now + 60, "nonce": nonce}
        token = jws.serialize_compact({"alg": "RS256", "kid": kid}, json.dumps(default | claims), self.key, ["RS256"])
        self.documents["/token"] = {"access_token": "at", "token_type": "Bearer", "id_token": token}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split()[1].partition("?")[0]
        self.request_counts[path] = self.request_counts.get(path, 0) + 1
        reply = self.replies.get(path) or respond(json.dumps(self.documents.get(path, {})).encode())
        await reply(writer)


@asynccontextmanager
async def standing_in() -> AsyncIterator[StandIn]:
    """Run a stand-in on a free local port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await stand_in.serve(reader, writer)

    async with serving(serve) as port:
        stand_in = StandIn(port)
        yield stand_in


def respond(body: bytes, status: str = "200 OK", *headers: str) -> Reply:
    """Return a reply with this body, status and extra headers."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers]
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)
        await writer.drain()

    return reply


async def endless(writer: asyncio.StreamWriter) -> None:
    """Send endless JSON as fast as the client reads it."""
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"issuer": "')
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def dripping(writer: asyncio.StreamWriter) -> None:
    """Send a byte every 50 ms, which never triggers a read timeout."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)
