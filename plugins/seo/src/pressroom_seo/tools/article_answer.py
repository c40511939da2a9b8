"""The answer of `check_blog_seo`: the score with every check, and the parts that were asked for."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pressroom_seo.tools.common import LinkOut


class SeoCheckOut(BaseModel):
    """One check."""

    id: str
    group: str
    status: Literal["good", "ok", "bad", "skipped"]
    message: str = Field(description="What was seen, or why it was skipped.")
    fix: str = Field(description="What to do; empty if nothing is to be done.")
    value: str | float | bool | None = Field(description="What was measured.")
    points: float | None = Field(description="1, 0.5 or 0; null if it was skipped.")
    weight: int = Field(description="How much it counts; 0: it is reported and does not count.")
    threshold: str = Field(description="What is good.")
    gain: float = Field(description="By how many points the score rises when this check alone becomes good.")
    evidence: list[str] = Field(description="The places that it is about; of checks that are not good.")


class GroupRow(BaseModel):
    """A group of checks together."""

    score: int | None = Field(description="From 0 to 100; null if nothing in it applies.")
    good: int
    ok: int
    bad: int
    skipped: int


class ActionRow(BaseModel):
    """What to do next."""

    check: str
    fix: str
    gain: float = Field(description="By how many points the score rises.")


class DuplicateRow(BaseModel):
    """A text of the account that is much like the article, or has its keyphrase."""

    content_id: str = Field(description="Empty for a page that was not written here.")
    url: str = Field(description="Where it is published; may be empty.")
    title: str
    similarity: float = Field(description="Which part of both texts is the same, from 0 to 1.")
    shared: list[str] = Field(description="Passages that both have, and the keyphrase if both have the same.")
    exact: bool = Field(description="Whether the texts were compared word by word; false: an estimate for a page.")


class DuplicatesPart(BaseModel):
    """Texts of the account that are nearly the same, or compete for the keyphrase."""

    matches: list[DuplicateRow] = Field(description="The most alike first.")


class LinksPart(BaseModel):
    """What is behind the article's links."""

    links: list[LinkOut] = Field(description="Links with a problem, broken ones first; at most 200.")
    checked: int = Field(description="How many links were tried; 0 until a job is done.")
    job_id: str | None = Field(description="For get_job, if there are too many links to wait for.")


class VoiceFindingRow(BaseModel):
    """Something that breaks the brand voice or misses a target."""

    rule: str = Field(description="banned_term, glossary, spelling, sentence_length or reading_ease.")
    severity: Literal["error", "warning"] = Field(description="error: breaks the voice; warning: misses a target.")
    message: str
    fix: str
    found: str = Field(description="The text in question; empty if the whole text is meant.")
    context: str = Field(description="The same with some words around it.")
    position: int | None = Field(description="In the plain text, in characters from 0.")
    line: int | None = Field(description="In the plain text, from 1.")


class VoicePart(BaseModel):
    """How the article keeps to its website's brand voice. Rules only; tone is not judged."""

    passed: bool = Field(description="Whether nothing breaks the voice; warnings do not count.")
    version: int = Field(description="Version of the voice; 0: nobody has written one.")
    findings: list[VoiceFindingRow] = Field(description="At most 50 for each rule.")


class SnippetLineRow(BaseModel):
    """A text as it is shown."""

    text: str = Field(description="With an ellipsis at its end if it is cut.")
    width: int = Field(description="Of the whole text, in pixels.")
    limit: int = Field(description="In pixels.")
    truncated: bool
    cut: str = Field(description="What is not shown.")


class PreviewRow(BaseModel):
    """A search result on one kind of device."""

    title: SnippetLineRow
    url: SnippetLineRow
    description: SnippetLineRow


class SnippetPart(BaseModel):
    """How a search result will look."""

    desktop: PreviewRow
    mobile: PreviewRow
    warnings: list[str]


class SeoReportOut(BaseModel):
    """The answer of `check_blog_seo`. A part that another plugin adds is a member of its own."""

    model_config = ConfigDict(extra="allow")

    score: int = Field(description="From 0 to 100.")
    rating: Literal["good", "ok", "poor"]
    groups: dict[str, GroupRow]
    checks: list[SeoCheckOut]
    next_actions: list[ActionRow] = Field(description="What brings most, best first.")
    gates: list[str] = Field(description="Faults that cap the score, whatever else is good.")
    notes: list[str]
    ruleset: str = Field(description="The rules and their version; scores of different ones do not compare.")
    language: str
    words: int
    images: dict[str, Any] | None = Field(
        default=None, description="images (each with what is known of it) and issues with a fix, if included."
    )
    duplicates: DuplicatesPart | None = Field(default=None, description="If included.")
    links: LinksPart | None = Field(default=None, description="If included.")
    voice: VoicePart | None = Field(default=None, description="If included.")
    snippet: SnippetPart | None = Field(default=None, description="If included.")
