"""Local servers that act as hosts on the internet, with certificates generated on the fly."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from support.tcp_server import serving

Reply = Callable[["Visit"], Awaitable[None]]


_SIGNS_CERTIFICATES = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)
"""Required by Python 3.13 (RFC 5280, 4.2.1.3)."""


class Authority:
    """A test certificate authority."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        self._certificate = (
            self._builder(self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_SIGNS_CERTIFICATES, critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def client_context(self) -> ssl.SSLContext:
        """Return a client context that trusts this authority and no other."""
        pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)

    def server_context(self, folder: Path, *names: str) -> ssl.SSLContext:
        """Return a server context with a certificate for these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
        certificate = (
            self._builder(subject, key)
            .add_extension(alternatives, critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        file = folder / f"{names[0].replace(':', '-')}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


class Visit:
    """One connection: the head of its request, and methods to respond."""

    def __init__(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = head
        self._reader = reader
        self._writer = writer

    @property
    def target(self) -> str:
        """The request target from the request line."""
        return self.head.split(" ", 2)[1]

    def header(self, name: str) -> str | None:
        """Return the value of a request header, or None."""
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None

    async def send(self, data: bytes) -> None:
        """Send raw bytes."""
        self._writer.write(data)
        await self._writer.drain()

    async def respond(self, content: bytes = b"", *headers: str, status: str = "200 OK") -> None:
        """Send a complete response."""
        lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(content)}", "", ""]
        await self.send("\r\n".join(lines).encode("latin-1") + content)

    async def until_left(self) -> None:
        """Wait until the client has disconnected."""
        with suppress(ConnectionError, ssl.SSLError):
            while await self._reader.read(4096):
                pass


class Origin:
    """A running server; `visits` are the requests that it received."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.visits: list[Visit] = []
        self.reached = asyncio.Event()
        self.left = asyncio.Event()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.reached.set()
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                head = await reader.readuntil(b"\r\n\r\n")
                visit = Visit(head.decode("latin-1"), reader, writer)
                self.visits.append(visit)
                await self._reply(visit)
            self.left.set()
        finally:
            writer.transport.abort()


@asynccontextmanager
async def origin(reply: Reply, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> AsyncIterator[Origin]:
    """Run a server that handles every request with `reply`."""
    running = Origin(reply)
    async with serving(running.serve, tls, host) as running.port:
        yield running


@asynccontextmanager
async def silent() -> AsyncIterator[Origin]:
    """Run a server that accepts connections and reads, but never sends anything, not even in a TLS handshake."""

    async def reply(visit: Visit) -> None:
        await visit.until_left()

    # The server waits for the end of a request head, which a handshake never contains.
    async with origin(reply) as running:
        yield running


class StubNames:
    """A name service with scripted results: one list of IP addresses per lookup."""

    def __init__(self, *addresses_by_query: Sequence[str]) -> None:
        self.addresses_by_query = addresses_by_query
        self.queries: list[str] = []

    async def resolve(self, name: str) -> Sequence[IPv4Address | IPv6Address]:
        """Return the next result; the last one repeats."""
        addresses = self.addresses_by_query[min(len(self.queries), len(self.addresses_by_query) - 1)]
        self.queries.append(name)
        return [ip_address(address) for address in addresses]

    def close(self) -> None:
        """Do nothing: there are no resources to release."""
