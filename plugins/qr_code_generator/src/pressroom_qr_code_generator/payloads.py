"""Payloads for networks, contacts, events and similar content, in formats that phones support."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final
from urllib.parse import quote

from pressroom.sdk import InvalidInput

from pressroom_qr_code_generator.params import ContentType, QrContent

MEMBERS: Final[Mapping[ContentType, tuple[str, ...]]] = {
    "text": (),
    "wifi": ("password", "security", "hidden"),
    "contact": ("organization", "jobTitle", "phone", "email", "url", "location", "message"),
    "email": ("subject", "message"),
    "event": ("start", "end", "location", "url", "message"),
    "phone": (),
    "sms": ("message",),
    "geo": (),
}
"""The members of `content` for each type."""

_MAX_NETWORK_NAME_BYTES: Final = 32
_PASSPHRASE: Final = re.compile(r"[\x20-\x7e]{8,63}|[0-9A-Fa-f]{64}")
_PHONE: Final = re.compile(r"\+?[0-9*#]{2,20}")
_PHONE_SEPARATORS: Final = re.compile(r"[\s().\-/]")
_MAILBOX: Final = re.compile(r"[^\s@<>\",;:\\]+@[^\s@<>\",;:\\]+")
_PLACE: Final = re.compile(r"\s*(-?\d{1,3}(?:\.\d{1,12})?)\s*,\s*(-?\d{1,3}(?:\.\d{1,12})?)\s*")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def payload(text: str, content: QrContent | None) -> str:
    """Return the payload: the text itself, or its encoding together with the other parts of the content.

    Raises:
        InvalidInput: a part is missing, invalid, or does not belong to the type.
    """
    if content is None:
        return text
    allowed = MEMBERS[content.type]
    for name in content.model_fields_set - {"type", *allowed}:
        if getattr(content, name) not in (None, False):
            members = ", ".join(allowed) or "no members"
            raise InvalidInput(f"content.{name}", f"does not belong to type {content.type}, which has {members}")
    return _WRITERS[content.type](text, content)


def wifi(text: str, content: QrContent) -> str:
    """Return the payload of a Wi-Fi login (ZXing's format, and the Wi-Fi Alliance's WPA3 specification, section 7)."""
    name, password = _one_line("text", text), content.password or ""
    if len(name.encode()) > _MAX_NETWORK_NAME_BYTES:
        raise InvalidInput("text", f"a network's name has at most 32 bytes (got {len(name.encode())})")
    security = content.security or ("WPA" if password else "nopass")
    if security == "nopass" and password:
        raise InvalidInput("content.password", "a network with security nopass has no password; leave one of them out")
    if security != "nopass" and not password:
        raise InvalidInput("content.password", f"is missing; security {security} needs one")
    if security == "WPA" and not _PASSPHRASE.fullmatch(password):
        raise InvalidInput("content.password", "a WPA password has 8 to 63 ASCII characters, or 64 hexadecimal digits")
    parts = [f"T:{security}", f"S:{_wifi(name)}"]
    if password:
        parts.append(f"P:{_wifi(_one_line('content.password', password))}")
    if content.hidden:
        parts.append("H:true")
    return f"WIFI:{';'.join(parts)};;"


def _wifi(value: str) -> str:
    return re.sub(r'([\\;,:"])', r"\\\1", value)


def contact(text: str, content: QrContent) -> str:
    """Return a contact as vCard 3.0 (RFC 2426), the version with the widest support on phones."""
    name = _one_line("text", text).strip()
    first_names, _, family = name.rpartition(" ")
    lines = [
        "BEGIN:VCARD",
        "VERSION:3.0",
        f"N:{_escaped(family)};{_escaped(first_names.strip())};;;",
        f"FN:{_escaped(name)}",
    ]
    if content.organization:
        lines.append(f"ORG:{_escaped(content.organization)}")
    if content.jobTitle:
        lines.append(f"TITLE:{_escaped(content.jobTitle)}")
    if content.phone:
        lines.append(f"TEL:{_phone('content.phone', content.phone)}")
    if content.email:
        lines.append(f"EMAIL:{_mailbox('content.email', content.email)}")
    if content.url:
        lines.append(f"URL:{_one_line('content.url', content.url)}")
    if content.location:
        lines.append(f"ADR:;;{_escaped(content.location)};;;;")
    if content.message:
        lines.append(f"NOTE:{_escaped(content.message)}")
    return "\r\n".join([*lines, "END:VCARD", ""])


def event(text: str, content: QrContent) -> str:
    """Return an event as a bare VEVENT (RFC 5545), as readers expect it."""
    if not content.start:
        raise InvalidInput("content.start", "is missing; an event needs one, such as 2027-05-01T18:00")
    lines = ["BEGIN:VEVENT", f"SUMMARY:{_escaped(text)}", *_times(content.start, content.end)]
    if content.location:
        lines.append(f"LOCATION:{_escaped(content.location)}")
    if content.url:
        lines.append(f"URL:{_one_line('content.url', content.url)}")
    if content.message:
        lines.append(f"DESCRIPTION:{_escaped(content.message)}")
    return "\r\n".join([*lines, "END:VEVENT", ""])


def _times(start: str, end: str | None) -> Iterator[str]:
    begins = _moment("content.start", start)
    yield _property("DTSTART", begins)
    if end is None:
        return
    ends = _moment("content.end", end)
    if isinstance(begins, datetime) and isinstance(ends, datetime):
        if (begins.tzinfo is None) != (ends.tzinfo is None):
            raise InvalidInput("content.end", "must have an offset if start has one, and none otherwise")
        is_reversed = ends < begins
    elif isinstance(begins, datetime) or isinstance(ends, datetime):
        raise InvalidInput("content.end", "must be a date if start is one, and have a time if start has one")
    else:
        is_reversed = ends < begins
        # The end of an all-day event is exclusive (RFC 5545, section 3.6.1).
        ends += timedelta(days=1) if ends < date.max else timedelta()
    if is_reversed:
        raise InvalidInput("content.end", "must not be before start")
    yield _property("DTEND", ends)


def _moment(field: str, value: str) -> date | datetime:
    try:
        if _DAY.fullmatch(value):
            return date.fromisoformat(value)
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        problem = f"must be a date or a time such as 2027-05-01 or 2027-05-01T18:00 (got {value!r})"
        raise InvalidInput(field, problem) from error


def _property(name: str, moment: date | datetime) -> str:
    if isinstance(moment, datetime):
        written = re.sub("[:-]", "", moment.replace(microsecond=0, tzinfo=None).isoformat())
        return f"{name}:{written}{'' if moment.tzinfo is None else 'Z'}"
    return f"{name};VALUE=DATE:{moment.isoformat().replace('-', '')}"


def email(text: str, content: QrContent) -> str:
    """Return an e-mail as a `mailto:` URI (RFC 6068)."""
    mailbox, _, domain = _mailbox("text", text.strip()).rpartition("@")
    headers = {"subject": content.subject, "body": content.message}
    lines = {name: re.sub(r"\r\n?|\n", "\r\n", value) for name, value in headers.items() if value}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in lines.items())
    return f"mailto:{quote(mailbox, safe='!$*+-._~')}@{quote(domain, safe='[]')}{'?' if query else ''}{query}"


def phone(text: str, content: QrContent) -> str:
    """Return a phone number as a `tel:` URI (RFC 3966)."""
    return f"tel:{_phone('text', text).replace('#', '%23')}"


def sms(text: str, content: QrContent) -> str:
    """Return a message as `SMSTO:`, which more readers support than `sms:` (RFC 5724)."""
    number = _phone("text", text)
    return f"SMSTO:{number}:{content.message}" if content.message else f"SMSTO:{number}"


def geo(text: str, content: QrContent) -> str:
    """Return a location as a `geo:` URI (RFC 5870)."""
    match = _PLACE.fullmatch(text)
    if match is None or abs(float(match[1])) > 90 or abs(float(match[2])) > 180:
        raise InvalidInput(
            "text", f"must be latitude,longitude in degrees, such as 52.2297,21.0122 (got {text[:60]!r})"
        )
    return f"geo:{match[1]},{match[2]}"


def _phone(field: str, value: str) -> str:
    number = _PHONE_SEPARATORS.sub("", value)
    if not _PHONE.fullmatch(number):
        raise InvalidInput(field, f"must be a phone number such as +48 22 123 45 67 (got {value[:60]!r})")
    return number


def _mailbox(field: str, value: str) -> str:
    if not _MAILBOX.fullmatch(value) or _CONTROL.search(value):
        raise InvalidInput(field, f"must be an e-mail address such as ada@example.com (got {value[:60]!r})")
    return value


def _one_line(field: str, value: str) -> str:
    if _CONTROL.search(value):
        raise InvalidInput(field, "must not have line breaks or control characters")
    return value


def _escaped(value: str) -> str:
    """Escape a text value for RFC 2426, section 4, and RFC 5545, section 3.3.11."""
    plain = re.sub(r"([\\;,])", r"\\\1", value.replace("\r\n", "\n").replace("\r", "\n"))
    return _CONTROL.sub("", plain.replace("\n", "\\n").replace("\t", " "))


def _as_it_is(text: str, content: QrContent) -> str:
    return text


_WRITERS: Final[Mapping[ContentType, Callable[[str, QrContent], str]]] = {
    "text": _as_it_is,
    "wifi": wifi,
    "contact": contact,
    "email": email,
    "event": event,
    "phone": phone,
    "sms": sms,
    "geo": geo,
}
