"""A generator of a media type that the server does not know: a calendar file with one event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pressroom.sdk import (
    Artifact,
    Call,
    Example,
    Generator,
    Integer,
    Mcp,
    Params,
    Plugin,
    generator,
    hookimpl,
    per_hour,
)
from pydantic import AwareDatetime, Field

PLUGIN = Plugin(
    id="calendar_file", api="1", title="Calendar file", summary="Makes calendar files that every calendar can import."
)


class EventParams(Params):
    """What is in the calendar."""

    title: str = Field(min_length=1, max_length=200, description="What happens.")
    # Parameters are strict, and JSON has no type for moments: this one takes text.
    start: AwareDatetime = Field(
        strict=False, description="When it begins, with the time zone: 2026-12-01T09:00:00+01:00."
    )
    minutes: Integer = Field(default=60, ge=1, le=1440, description="How long it takes, in minutes.")


@generator(
    slug="calendar-file",
    name="Calendar file",
    summary="A calendar file with one event.",
    rate_limit=per_hour(600),
    produces=("text/calendar",),
    extensions={"text/calendar": "ics"},
    executor="thread",
    mcp=Mcp("make_calendar_file"),
    examples=(Example("An editorial meeting", {"title": "Editorial meeting", "start": "2026-12-01T09:00:00+01:00"}),),
)
def calendar_file(params: EventParams, call: Call) -> Artifact:
    """Makes a calendar file (RFC 5545) with one event, for people to import into their calendar."""
    start = params.start.astimezone(UTC)
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//example//calendar_file//EN",
        "BEGIN:VEVENT",
        f"UID:{start:%Y%m%dT%H%M%SZ}-{params.minutes}@calendar-file.example",
        f"DTSTAMP:{stamp(start)}",
        f"DTSTART:{stamp(start)}",
        f"DTEND:{stamp(start + timedelta(minutes=params.minutes))}",
        *folded(f"SUMMARY:{escaped(params.title)}"),
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return Artifact("".join(f"{line}\r\n" for line in lines).encode(), "text/calendar")


def stamp(moment: datetime) -> str:
    """Return a moment in UTC as a calendar writes it (RFC 5545, section 3.3.5)."""
    return f"{moment:%Y%m%dT%H%M%SZ}"


def escaped(text: str) -> str:
    """Return a text in which nothing ends the line (RFC 5545, section 3.3.11)."""
    for character in ("\\", ";", ","):
        text = text.replace(character, f"\\{character}")
    return " ".join(text.splitlines())


def folded(line: str) -> list[str]:
    """Return a line as lines of at most 75 octets, each further one indented (RFC 5545, section 3.1)."""
    lines, current = [], ""
    for character in line:
        if len(f"{current}{character}".encode()) > 75:
            lines.append(current)
            current = " "
        current += character
    return [*lines, current]


@hookimpl
def pressroom_generators() -> list[Generator]:
    """Offer the generator."""
    return [calendar_file]
