"""Scheduled times in the time zones of websites: skipped and repeated hours at clock changes, and explicit offsets."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from pressroom.sdk import InvalidInput
from pressroom_content.publishing.publish_requests import moment

NOW = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "text", "utc"),
    [
        ("Europe/Berlin", "2027-03-28T01:59:59", "2027-03-28T00:59:59"),
        ("Europe/Berlin", "2027-03-28T03:00:00", "2027-03-28T01:00:00"),
        ("Europe/Berlin", "2027-10-31T01:59:59", "2027-10-30T23:59:59"),
        ("Europe/Berlin", "2027-10-31T02:30:00", "2027-10-31T00:30:00"),
        ("Europe/Berlin", "2027-10-31T02:30:00+01:00", "2027-10-31T01:30:00"),
        ("Europe/Berlin", "2027-10-31T03:00:00", "2027-10-31T02:00:00"),
        ("America/New_York", "2027-03-14T01:59:59", "2027-03-14T06:59:59"),
        ("America/New_York", "2027-03-14T03:00:00", "2027-03-14T07:00:00"),
        ("America/New_York", "2027-11-07T01:30:00", "2027-11-07T05:30:00"),
        ("America/New_York", "2027-11-07T01:30:00-05:00", "2027-11-07T06:30:00"),
        ("America/New_York", "2027-11-07T02:00:00", "2027-11-07T07:00:00"),
        ("Europe/Berlin", "2027-03-28T02:30:00+01:00", "2027-03-28T01:30:00"),
        ("Australia/Lord_Howe", "2027-04-04T01:45:00", "2027-04-03T14:45:00"),
        ("Asia/Tokyo", "2027-06-01T08:00:00Z", "2027-06-01T08:00:00"),
    ],
)
def test_a_local_time_is_converted_with_the_right_offset(zone: str, text: str, utc: str) -> None:
    assert moment(text, ZoneInfo(zone), now=NOW) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("Europe/Berlin", "2027-03-28T02:00:00"),
        ("Europe/Berlin", "2027-03-28T02:59:59"),
        ("America/New_York", "2027-03-14T02:30:00"),
        ("Australia/Lord_Howe", "2027-10-03T02:15:00"),
    ],
)
def test_a_time_skipped_by_a_clock_change_is_refused_with_its_zone(zone: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=f"does not exist in {zone}: clocks go forward then"):
        moment(text, ZoneInfo(zone), now=NOW)
