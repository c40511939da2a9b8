"""Shared parameters and helpers of the tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pressroom.sdk import Call, InvalidInput, PluginContext
from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from pressroom_content.contract import Website

    from pressroom_seo.crawler.links import LinkReport
    from pressroom_seo.reports.queries import CrawlFinding

ContentId = Annotated[str, Field(min_length=1, max_length=64, description="From list_content.")]
WebsiteId = Annotated[str, Field(min_length=1, max_length=64, description="From list_websites.")]
Url = Annotated[str, Field(min_length=1, max_length=2048)]
Phrase = Annotated[str, Field(max_length=200)]

Severity = Literal["critical", "warning", "notice"]
IssueStatus = Literal["open", "fixed", "ignored"]


class LinkOut(BaseModel):
    """A link with a problem."""

    url: str
    status: int = Field(description="0 without a response.")
    location: str = Field(description="Final URL after redirects; empty without a redirect.")
    found_in: list[str] = Field(description="Pages or articles with the link; canonical_url for that field.")
    problems: list[str] = Field(description="broken, redirected, insecure, noindex.")
    message: str = ""

    @classmethod
    def of(cls, report: LinkReport) -> LinkOut:
        """Convert a link report."""
        values = asdict(report)
        return cls.model_validate({**values, "found_in": list(report.found_in), "problems": list(report.problems)})

    def line(self) -> str:
        """Return the link and its problems as a line of text."""
        target = f", leads to {self.location}" if self.location else ""
        where = f", in {self.found_in[0]}" if self.found_in else ""
        return f"{', '.join(self.problems)}: {self.url} ({self.status or 'no response'}{target}{where})"


def context(call: Call) -> PluginContext:
    """Return the plugin's context. Raises `RuntimeError` if the call has none."""
    if call.plugin is None:
        raise RuntimeError("this tool runs on the event loop only")
    return call.plugin


def exactly_one(**arguments: Any) -> None:
    """Raise `InvalidInput` unless exactly one of these arguments is given."""
    if sum(value is not None for value in arguments.values()) != 1:
        names = " and ".join(arguments)
        raise InvalidInput(next(iter(arguments)), f"give exactly one of {names}")


def short(text: str, max_length: int = 200) -> str:
    """Truncate a text to `max_length` characters."""
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


async def articles_at(plugin: PluginContext, website: Website, urls: Sequence[str]) -> dict[str, str]:
    """Map URLs of a website to the IDs of the articles that are live there."""
    from pressroom_content.contract import content_services  # noqa: PLC0415

    pages = list(dict.fromkeys(urls))
    return dict(await content_services(plugin).publications.at_urls(website.user_id, website.id, pages))


async def article_lines(
    plugin: PluginContext, website: Website, urls: Sequence[str], content_ids: Mapping[str, str]
) -> list[str]:
    """Return lines that list the URLs of articles and explain what `import_content` does with the others."""
    from pressroom_content.contract import content_services  # noqa: PLC0415

    lines = [f"Article {content_id}: {url}" for url, content_id in content_ids.items()]
    if any(url not in content_ids for url in urls):
        note = await content_services(plugin).websites.import_note(website.user_id, website.id)
        lines += [note] if note else []
    return lines


class IssueRow(BaseModel):
    """What a check found: on the whole site, or at one URL where check_id was given."""

    issue_id: str = Field(description="For set_seo_issue_status.")
    check_id: str
    severity: Severity
    count: int = Field(description="Number of URLs.")
    sample_urls: list[str]
    message: str = Field(description="What is wrong.")
    fix: str
    status: IssueStatus = "open"
    note: str = ""
    evidence: list[dict[str, Any]] = Field(default=[], description="What was seen at the URL.")


def issue_row(finding: CrawlFinding) -> IssueRow:
    """Convert a finding for the tool result."""
    severity: Any = finding.severity
    status: Any = finding.status
    return IssueRow(
        issue_id=finding.issue_id,
        check_id=finding.check_id,
        severity=severity,
        count=finding.count,
        sample_urls=list(finding.sample_urls),
        message=finding.message,
        fix=finding.fix,
        status=status,
        note=finding.note,
        evidence=[dict(entry) for entry in finding.evidence],
    )
