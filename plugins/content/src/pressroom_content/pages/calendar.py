"""The dashboard's calendar, `/dashboard/calendar`: posts in a grid of weeks, and ideas for articles."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Self
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from pressroom.sdk import (
    CallError,
    DashboardPage,
    HttpRequest,
    HttpResponse,
    InvalidInput,
    NotFound,
    PluginContext,
    Route,
)

from pressroom_content.articles.fields import check_website
from pressroom_content.ideas import Idea, Ideas
from pressroom_content.pages.article import refusal
from pressroom_content.pages.connect import form_of, fragment, root_of, see_other
from pressroom_content.pages.shown import page_zone, state, zone_note
from pressroom_content.publishing.operations import bring
from pressroom_content.publishing.overview import MAX_ENTRIES, ScheduleEntry, entries
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import PublishRequest, moment
from pressroom_content.websites.settings import zone_of
from pressroom_content.websites.store import Websites, read_names

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2999

_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a year."""

    year: int
    number: int

    @classmethod
    def read(cls, text: str, today: date) -> Self:
        """Return the month in a text such as `2026-12`, or the current month if the text is invalid."""
        match = _MONTH.fullmatch(text)
        year, number = (int(match[1]), int(match[2])) if match else (today.year, today.month)
        if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= number <= 12):
            year, number = today.year, today.month
        return cls(year, number)

    @property
    def first(self) -> date:
        """The first day of the month."""
        return date(self.year, self.number, 1)

    @property
    def title(self) -> str:
        """The name of the month: `December 2026`."""
        return f"{self.first:%B %Y}"

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"

    def moved(self, months: int) -> Month | None:
        """Return the month this many months later, or earlier if negative; `None` outside of the supported years."""
        index = self.year * 12 + self.number - 1 + months
        year = index // 12
        return Month(year, index % 12 + 1) if FIRST_YEAR <= year <= LAST_YEAR else None

    @property
    def days(self) -> Sequence[date]:
        """The days of all weeks of the month, Monday to Sunday, including days of the neighbouring months."""
        begin = self.first - timedelta(days=self.first.weekday())
        last = date(self.year + self.number // 12, self.number % 12 + 1, 1) - timedelta(days=1)
        end = last + timedelta(days=6 - last.weekday())
        return [begin + timedelta(days=number) for number in range((end - begin).days + 1)]

    def bounds(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """Return the start of the first of these days and the end of the last one, in UTC."""
        days = self.days
        begin = datetime.combine(days[0], time(), zone)
        return begin.astimezone(UTC), datetime.combine(days[-1] + timedelta(days=1), time(), zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Day:
    """A day with its entries and ideas. `inside` means that it belongs to the month rather than a neighbouring one."""

    date: date
    inside: bool
    today: bool
    entries: Sequence[ScheduleEntry]
    ideas: Sequence[Idea]

    @property
    def empty(self) -> bool:
        """Whether the day has neither entries nor ideas."""
        return not self.entries and not self.ideas


def weeks(
    month: Month, zone: ZoneInfo, today: date, entries: Iterable[ScheduleEntry], ideas: Iterable[Idea]
) -> Sequence[Sequence[Day]]:
    """Return the weeks of a month, each with seven days."""
    by_day: dict[date, list[ScheduleEntry]] = defaultdict(list)
    due: dict[date, list[Idea]] = defaultdict(list)
    for entry in entries:
        by_day[entry.at.astimezone(zone).date()].append(entry)
    for idea in ideas:
        if idea.due is not None:
            due[idea.due].append(idea)
    days = [
        Day(day, day.month == month.number, day == today, by_day.get(day, ()), due.get(day, ())) for day in month.days
    ]
    return [days[start : start + 7] for start in range(0, len(days), 7)]


PATH: Final = "/dashboard/calendar"
MAX_SHOWN_PER_DAY: Final = 3
WAIT_SECONDS: Final = 5.0
"""Maximum wait for a publication that the page started; publishing continues afterwards."""

MAX_IDEAS: Final = 200
_WEBSITES: Final = 200
_MAX_LENGTHS: Final = {"title": 500, "keyphrase": 200}
_MESSAGES: Final = {
    "moved": "Rescheduled.",
    "published": "Publishing has started.",
    "replanned": "The idea is moved to the new date.",
    "added": "The idea is saved. Your AI clients can see it.",
    "done": "The idea is marked as done.",
    "deleted": "The idea is deleted.",
}
_TOOLS: Final = {
    "add": "save_content_idea",
    "replan": "save_content_idea",
    "move": "publish_content",
    "publish": "publish_content",
}
_IDEA_STATES: Final = {"idea": "idea", "planned": "planned", "writing": "being written"}


class CalendarPages:
    """Shows a month, and stores ideas."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [Route(PATH, self.calendar, ("GET", "POST"), DashboardPage("Calendar", _TOOLS, "Content"))]

    async def calendar(self, request: HttpRequest) -> HttpResponse:
        """Show a month, reschedule a post, or change ideas. Raises `NotFound` for an unknown post or idea."""
        if request.method != "POST":
            return await self._month(request, _MESSAGES.get(request.query.get("done", ""), ""))
        typed = form_of(request)
        query = {name: request.query[name] for name in ("month", "tz", "website") if request.query.get(name)}
        if typed.get("do") in ("move", "publish"):
            try:
                done = await self._reschedule(request, typed)
            except NotFound:
                raise
            except CallError as error:
                return await self._month(request, problem=refusal(error), status=400)
            return see_other(self._plugin, f"{PATH}?{urlencode({**query, 'done': done})}")
        try:
            done = await self._do(request.subject, typed)
        except NotFound:
            raise NotFound("That idea is no longer in your calendar. Reload the page.") from None
        except InvalidInput as error:
            return await self._month(request, errors={error.field: error.problem}, typed=typed, status=400)
        anchor = "" if done == "replanned" else "#ideas"
        return see_other(self._plugin, f"{PATH}?{urlencode({**query, 'done': done})}{anchor}")

    async def _reschedule(self, request: HttpRequest, typed: Mapping[str, str]) -> str:
        """Move a planned post to another time, or publish it now. Raises `NotFound`, and the errors of `bring`."""
        try:
            publication = await Publications(self._plugin).get(request.subject, typed.get("publication", ""))
        except NotFound:
            raise NotFound("That post is no longer in your calendar. Reload the page.") from None
        if publication.status == "published":
            raise InvalidInput("", "it is already live; only scheduled posts can be moved")
        publish_request = PublishRequest("publish")
        if typed.get("do") == "move":
            websites, _ = await Websites(self._plugin).page(request.subject, limit=_WEBSITES)
            website = next((website for website in websites if website.id == request.query.get("website")), None)
            zone, _ = page_zone(request.query.get("tz", ""), website, websites)
            at = moment(_time_of(typed), zone, now=datetime.now(UTC), name="at")
            publish_request = PublishRequest("schedule", at)
        result = await bring(
            self._plugin, request.subject, publication.article_id, publication.website_id, publish_request
        )
        await Publications(self._plugin).wait(result.publication, WAIT_SECONDS)
        return "moved" if publish_request.publish_at else "published"

    async def _do(self, user_id: str, typed: Mapping[str, str]) -> str:
        ideas = Ideas(self._plugin)
        match typed.get("do"):
            case "add":
                changes = _changes(typed)
                async with self._plugin.services.database.reading() as session:
                    try:
                        await check_website(session, user_id, changes.get("website_id"))
                    except NotFound:
                        raise InvalidInput("website", "is no longer connected; choose another one") from None
                await ideas.save(user_id, None, changes)
                return "added"
            case "replan":
                await ideas.save(user_id, typed.get("idea", ""), {"due": _due(typed.get("day", ""))})
                return "replanned"
            case "done":
                await ideas.save(user_id, typed.get("idea", ""), {"status": "done"})
                return "done"
            case "delete":
                await ideas.remove(user_id, typed.get("idea", ""))
                return "deleted"
            case _:
                raise InvalidInput("", "unknown button; reload the page")

    async def _month(
        self,
        request: HttpRequest,
        message: str = "",
        *,
        problem: str = "",
        errors: Mapping[str, str] | None = None,
        typed: Mapping[str, str] | None = None,
        status: int = 200,
    ) -> HttpResponse:
        websites, _ = await Websites(self._plugin).page(request.subject, limit=_WEBSITES)
        website = next((website for website in websites if website.id == request.query.get("website")), None)
        zone, wrong_zone = page_zone(request.query.get("tz", ""), website, websites)
        guessed = "tz" not in request.query and website is None
        today = datetime.now(zone).date()
        month = Month.read(request.query.get("month", ""), today)
        begin, end = month.bounds(zone)
        website_id = website.id if website else None
        async with self._plugin.services.database.reading() as session:
            schedule = await entries(session, request.subject, begin, end, website_id)
            names = await read_names(session, request.subject)
        ideas = await Ideas(self._plugin).listed(request.subject, website_id=website_id, limit=MAX_IDEAS)
        connected = {website.id for website in websites}
        filters = {"website": website_id or "", "tz": request.query.get("tz", "") if not wrong_zone else ""}
        return fragment(
            "calendar.html",
            self._plugin,
            request,
            status=status,
            month=month,
            weeks=[
                [_day(day, zone, names, connected) for day in week]
                for week in weeks(month, zone, today, schedule, ideas)
            ],
            weekdays=WEEKDAYS,
            zone=zone.key,
            zones=sorted({zone.key, "UTC", *(zone_of(website.settings).key for website in websites)} | _COMMON_ZONES),
            wrong_zone=wrong_zone,
            guessed_zone=guessed,
            zone_note="" if request.query.get("tz") else zone_note(zone, website, websites),
            websites=[(website.id, website.name) for website in websites],
            chosen=filters,
            typed=typed or {},
            errors=errors or {},
            message=message,
            problem=problem,
            ideas=[{**_idea(idea), "overdue": idea.due is not None and idea.due < today} for idea in ideas],
            count=len([entry for entry in schedule if _in(month, entry.at, zone)]),
            cut=MAX_ENTRIES if len(schedule) >= MAX_ENTRIES else 0,
            path=root_of(self._plugin) + PATH,
            action=f"{root_of(self._plugin)}{PATH}?{urlencode({**filters, 'month': month})}",
            links={name: _link(other, filters) for name, other in _neighbours(month, today)},
            shown=MAX_SHOWN_PER_DAY,
            articles=root_of(self._plugin) + "/dashboard/articles",
        )


_COMMON_ZONES: Final = frozenset(
    {
        "America/Chicago", "America/Denver", "America/Los_Angeles", "America/New_York", "America/Sao_Paulo",
        "Asia/Dubai", "Asia/Kolkata", "Asia/Singapore", "Asia/Tokyo", "Australia/Sydney", "Europe/Berlin",
        "Europe/London", "Europe/Paris",
    }
)  # fmt: skip
"""Time zones to suggest; every other one can be typed."""


def _changes(typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the idea in a form. Raises `InvalidInput`."""
    changes: dict[str, Any] = {name: " ".join(typed.get(name, "").split()) for name in _MAX_LENGTHS}
    for name, max_length in _MAX_LENGTHS.items():
        if len(changes[name]) > max_length:
            raise InvalidInput(name, f"has {len(changes[name]):,} characters; at most {max_length} are kept")
    if not changes["title"] and not changes["keyphrase"]:
        raise InvalidInput("title", "or the keyphrase has to be filled, to say what the idea is")
    planned = {"due": _due(typed.get("due", "")), "website_id": typed.get("website")}
    # An idea that exists keeps a day and a website that are left empty here.
    return changes | {name: value for name, value in planned.items() if value}


def _due(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if text.strip() else None
    except ValueError:
        raise InvalidInput("due", "must be a day such as 2026-12-24") from None


def _time_of(typed: Mapping[str, str]) -> str:
    """Return a form's day and time of day in ISO 8601 format. Raises `InvalidInput`."""
    day, clock = typed.get("day", "").strip(), typed.get("time", "").strip()
    if not day or not clock:
        raise InvalidInput("at", "choose a day and a time first")
    return f"{day}T{clock}"


def _neighbours(month: Month, today: date) -> list[tuple[str, Month | None]]:
    return [("previous", month.moved(-1)), ("today", Month(today.year, today.month)), ("next", month.moved(1))]


def _link(month: Month | None, filters: Mapping[str, str]) -> str:
    return (
        "?" + urlencode({**{name: value for name, value in filters.items() if value}, "month": month}) if month else ""
    )


def _in(month: Month, at: datetime, zone: ZoneInfo) -> bool:
    local = at.astimezone(zone)
    return (local.year, local.month) == (month.year, month.number)


_MOVABLE: Final = ("scheduled", "draft", "failed")


def _day(day: Day, zone: ZoneInfo, names: Mapping[str, str], connected: Container[str]) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "date": day.date,
        "name": f"{day.date:%A}, {day.date.day} {day.date:%B}",
        "inside": day.inside,
        "today": day.today,
        "empty": day.empty,
        "items": [
            {
                "id": entry.article_id,
                "publication": entry.publication_id,
                "website_id": entry.website_id,
                "day": f"{entry.at.astimezone(zone):%Y-%m-%d}",
                "movable": entry.status in _MOVABLE and entry.website_id in connected,
                "title": entry.title,
                "time": f"{entry.at.astimezone(zone):%H:%M}",
                "iso": entry.at.isoformat(timespec="seconds"),
                "state": state(entry.status),
                "late": entry.status == "scheduled" and entry.at < now,
                "website": names.get(entry.website_id, ""),
            }
            for entry in day.entries
        ],
        "ideas": [_idea(idea) for idea in day.ideas],
    }


def _idea(idea: Any) -> dict[str, Any]:
    return {
        "id": idea.id,
        "title": idea.title or idea.keyphrase,
        "keyphrase": idea.keyphrase if idea.title else "",
        "notes": idea.notes,
        "due": idea.due,
        "state": _IDEA_STATES.get(idea.status, idea.status),
    }
