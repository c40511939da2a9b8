"""A DNS server on loopback with records from a test."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from functools import cache

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

Addresses = Callable[[str, str], Sequence[str]]
"""Returns the IP addresses for a name and a record type, A or AAAA, on each query."""


class NameServer:
    """Responds over UDP, by default on a random port, with records, NXDOMAIN or SERVFAIL.

    `texts` are lists of TXT records by name; `failing` are the names that get SERVFAIL. `addresses` supplies the A and
    AAAA records.
    """

    def __init__(self, port: int = 0, addresses: Addresses | None = None) -> None:
        self.texts: dict[str, list[str]] = {}
        self.failing: set[str] = set()
        self._addresses = addresses
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        threading.Thread(target=self._serve, name="name server", daemon=True).start()

    @property
    def address(self) -> str:
        """IP address and port, as `host:port`."""
        host, port = self._socket.getsockname()
        return f"{host}:{port}"

    def _serve(self) -> None:
        while True:
            datagram, peer = self._socket.recvfrom(4096)
            try:
                query = dns.message.from_wire(datagram)
            except dns.exception.DNSException:
                continue
            self._socket.sendto(self._respond(query).to_wire(), peer)

    def _respond(self, query: dns.message.Message) -> dns.message.Message:
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        name, kind = query.question[0].name, dns.rdatatype.to_text(query.question[0].rdtype)
        if self._addresses is not None and kind in ("A", "AAAA"):
            records = self._addresses(name.to_text(omit_final_dot=True), kind)
            if records:
                response.answer.append(dns.rrset.from_text(name, 0, "IN", kind, *records))
            return response
        texts = self.texts.get(name.to_text(omit_final_dot=True))
        if name.to_text(omit_final_dot=True) in self.failing:
            response.set_rcode(dns.rcode.SERVFAIL)
        elif texts is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        elif texts:
            response.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", *(f'"{text}"' for text in texts)))
        return response


@cache
def name_server() -> NameServer:
    """Return the server shared by all tests of a process; each test uses its own names."""
    return NameServer()
