"""A DNS server on loopback that knows the TXT records that a test gives it."""

from __future__ import annotations

import socket
import threading
from functools import cache

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rrset


class NameServer:
    """Answers over UDP, on a port of its own: TXT records, that there is no such name, or that it fails.

    `texts` are the records by name, each with its texts; `failing` the names that get SERVFAIL.
    """

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.failing: set[str] = set()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        threading.Thread(target=self._serve, name="name server", daemon=True).start()

    @property
    def address(self) -> str:
        """IP address and port."""
        host, port = self._socket.getsockname()
        return f"{host}:{port}"

    def _serve(self) -> None:
        while True:
            wire, peer = self._socket.recvfrom(4096)
            try:
                asked = dns.message.from_wire(wire)
            except dns.exception.DNSException:
                continue
            self._socket.sendto(self._answer(asked).to_wire(), peer)

    def _answer(self, asked: dns.message.Message) -> dns.message.Message:
        answer = dns.message.make_response(asked)
        answer.flags |= dns.flags.RA
        name = asked.question[0].name
        texts = self.texts.get(name.to_text(omit_final_dot=True))
        if name.to_text(omit_final_dot=True) in self.failing:
            answer.set_rcode(dns.rcode.SERVFAIL)
        elif texts is None:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif texts:
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", *(f'"{text}"' for text in texts)))
        return answer


@cache
def name_server() -> NameServer:
    """Return the one that all tests of a process share: each has names of its own."""
    return NameServer()
