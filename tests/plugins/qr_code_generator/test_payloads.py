"""Payloads of networks, contacts and events, as independent parsers read them."""

import re
from datetime import date, timedelta
from email.utils import parseaddr
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom.sdk import InvalidInput
from pressroom_qr_code_generator.params import QrContent
from pressroom_qr_code_generator.payloads import payload
from support.sizes import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60)
TRICKY = st.text('\\;,:"nN\n é日', min_size=1, max_size=20)
ANY = TEXTS | TRICKY


def _payload(text: str, **content: Any) -> str:
    return payload(text, QrContent.model_validate(content))


def _unescaped(value: str) -> str:
    """Unescape a text value of a vCard or an event (RFC 2426, section 5; RFC 5545, section 3.3.11)."""
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] in "nN" else match[1], value)


def _properties(text: str) -> dict[str, str]:
    return dict(line.split(":", 1) for line in text.split("\r\n") if line)


def _wifi_fields(text: str) -> dict[str, str]:
    """Split a network payload into its fields as readers do: at each semicolon not preceded by a backslash."""
    assert text.startswith("WIFI:")
    fields = re.findall(r"(\w):((?:\\.|[^\\;])*);", text.removeprefix("WIFI:"))
    assert text == "WIFI:" + "".join(f"{name}:{value};" for name, value in fields) + ";"
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in fields}


@settings(max_examples=examples(200))
@given(
    name=ANY.filter(lambda name: "\n" not in name and len(name.encode()) <= 32),
    password=st.from_regex(r"[ -~]{8,63}", fullmatch=True),
)
def test_a_network_is_read_as_it_was_given(name: str, password: str) -> None:
    found = _wifi_fields(_payload(name, type="wifi", password=password, hidden=True))
    assert found == {"T": "WPA", "S": name, "P": password, "H": "true"}


def test_a_network_without_a_password_is_open() -> None:
    assert _payload("Guests", type="wifi") == "WIFI:T:nopass;S:Guests;;"


@settings(max_examples=examples(200))
@given(name=ANY, company=ANY, place=ANY, note=ANY)
def test_a_contact_is_read_as_it_was_given(name: str, company: str, place: str, note: str) -> None:
    content = {"type": "contact", "organization": company, "location": place, "message": note, "email": "z@example.com"}
    if "\n" in name:
        with pytest.raises(InvalidInput):
            _payload(name, **content)
        return
    found = _properties(_payload(name, **content))
    assert found["BEGIN"] == found["END"] == "VCARD"
    assert _unescaped(found["FN"]) == name.strip()
    assert len(re.findall(r"(?:\\.|[^\\;])*;", found["N"] + ";")) == 5
    assert _unescaped(found["ORG"]) == company
    assert _unescaped(re.findall(r"(?:\\.|[^\\;])*", found["ADR"].removeprefix(";;"))[0]) == place
    assert _unescaped(found["NOTE"]) == note


@settings(max_examples=examples(200))
@given(title=ANY, note=ANY, day=st.dates(max_value=date(9000, 1, 1)), days=st.integers(0, 400))
def test_an_event_is_read_as_it_was_given(title: str, note: str, day: date, days: int) -> None:
    last = day + timedelta(days)
    found = _properties(_payload(title, type="event", start=day.isoformat(), end=last.isoformat(), message=note))
    assert (_unescaped(found["SUMMARY"]), _unescaped(found["DESCRIPTION"])) == (title, note)
    assert found["DTSTART;VALUE=DATE"] == day.isoformat().replace("-", "")
    assert found["DTEND;VALUE=DATE"] == (last + timedelta(1)).isoformat().replace("-", "")


@pytest.mark.parametrize(
    ("start", "written"),
    [
        ("2027-05-01T18:00", "DTSTART:20270501T180000"),
        ("2027-05-01T18:00:30Z", "DTSTART:20270501T180030Z"),
        ("2027-05-01T18:00+02:00", "DTSTART:20270501T160000Z"),
    ],
)
def test_times_are_local_unless_they_have_an_offset(start: str, written: str) -> None:
    assert written in _payload("Party", type="event", start=start).split("\r\n")


@settings(max_examples=examples(200))
@given(subject=ANY, message=ANY)
def test_an_email_is_read_as_it_was_given(subject: str, message: str) -> None:
    text = _payload("ada+qr@example.com", type="email", subject=subject, message=message)
    assert text.isascii()
    parts = urlsplit(text)
    assert parseaddr(unquote(parts.path))[1] == "ada+qr@example.com"
    read = parse_qs(parts.query.replace("+", "%2B"), strict_parsing=True, keep_blank_values=True)
    assert read["subject"] == [subject.replace("\n", "\r\n")]
    assert read["body"] == [message.replace("\n", "\r\n")]


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        ("+48 (22) 123-45-67", {"type": "phone"}, "tel:+48221234567"),
        ("*100#", {"type": "phone"}, "tel:*100%23"),
        ("+48 600 100 200", {"type": "sms", "message": "Yes: 2; please"}, "SMSTO:+48600100200:Yes: 2; please"),
        ("52.2297, -21.0122", {"type": "geo"}, "geo:52.2297,-21.0122"),
        ("ada@example.com", {"type": "email"}, "mailto:ada@example.com"),
        ("as it is", {}, "as it is"),
        (
            "Zoë Łukasiewicz",
            {"type": "contact", "phone": "+48 22 1"},
            "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Łukasiewicz;Zoë;;;\r\nFN:Zoë Łukasiewicz\r\nTEL:+48221\r\nEND:VCARD\r\n",
        ),
    ],
)
def test_each_type_has_its_payload_format(text: str, content: dict[str, Any], expected: str) -> None:
    assert _payload(text, **content) == expected


@pytest.mark.parametrize(
    ("text", "content", "field", "problem"),
    [
        ("é" * 17, {"type": "wifi"}, "text", "at most 32 bytes (got 34)"),
        ("a", {"type": "wifi", "security": "WPA"}, "content.password", "is missing"),
        ("a", {"type": "wifi", "password": "short"}, "content.password", "8 to 63"),
        ("a", {"type": "wifi", "password": "x" * 8, "security": "nopass"}, "content.password", "leave one"),
        ("a", {"type": "wifi", "subject": "b"}, "content.subject", "type wifi, which has password, security, hidden"),
        ("a", {"password": "b"}, "content.password", "type text, which has no members"),
        ("a", {"type": "phone"}, "text", "must be a phone number"),
        ("91,0", {"type": "geo"}, "text", "latitude,longitude"),
        ("a@b@c", {"type": "email"}, "text", "must be an e-mail address"),
        ("a", {"type": "event"}, "content.start", "is missing"),
        ("a", {"type": "event", "start": "tomorrow"}, "content.start", "must be a date or a time"),
        ("a", {"type": "event", "start": "2027-05-02", "end": "2027-05-01"}, "content.end", "not be before"),
        ("a", {"type": "event", "start": "2027-05-02", "end": "2027-05-03T10:00"}, "content.end", "must be a date"),
        ("a", {"type": "event", "start": "2027-05-02T10:00", "end": "2027-05-03T10:00Z"}, "content.end", "an offset"),
        ("a", {"type": "contact", "url": "x\nTEL:1"}, "content.url", "line breaks"),
    ],
)
def test_invalid_content_is_named(text: str, content: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as exc_info:
        _payload(text, **content)
    assert exc_info.value.field == field
    assert problem in exc_info.value.problem
