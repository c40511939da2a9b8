"""The tool that merges edits made on a website into the article."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pressroom.sdk import Annotations, Call, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.publishing.merged_fields import FieldConflict
from pressroom_content.publishing.site_edits import MergeConflict, SiteEdits, merge_edits
from pressroom_content.tools.common import context
from pressroom_content.tools.publication_parts import PublicationId

MAX_SHOWN_LENGTH = 20_000
"""Maximum length of a diff, in characters."""

_MAX_CONFLICTS = 50
_MAX_CONFLICT_LENGTH = 2_000
"""Maximum length of each side of a conflict, in characters: a site may return megabytes instead of a paragraph."""

_Choice = Annotated[str, Field(max_length=40)]


class MergeParams(Params):
    """Which post, and what is taken where both sides changed the same."""

    publication_id: PublicationId
    choices: dict[_Choice, Literal["article", "site", "both"]] = Field(
        default_factory=dict,
        max_length=500,
        description='Which side wins, by conflict key, such as {"1": "site", "title": "article"}.',
    )
    dry_run: bool = Field(default=False, description="Only show what was edited.")


class ConflictRow(BaseModel):
    """Something that was changed on both sides."""

    key: str = Field(description="Its key in choices.")
    before: str
    article: str
    site: str


class MergeResult(BaseModel):
    """The result of `merge_site_edits`."""

    publication_id: str
    content_id: str
    version: int | None = Field(description="The article's new version; null if none was created.")
    edited: bool = Field(description="Whether the post was edited on the site.")
    diff: str = Field(
        description="What was edited in the body, as a unified diff of Markdown. If it is cut, its end says so."
    )
    fields: dict[str, Any] = Field(description="Other fields that were edited, with their values on the site.")
    conflicts: list[ConflictRow] = Field(description="What the user has to decide; 50 at a time.")


@mcp_tool(
    name="merge_site_edits",
    title="Merge edits made on the site",
    description=(
        "Merges edits made to a post on its website into the article, block by block, as a new version, so that "
        "publish_content does not overwrite them. If both sides changed the same block or field, it writes nothing and "
        "returns conflicts: ask the user, then repeat with choices."
    ),
    result=MergeResult,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("publishing",),
    timeout=60,
)
async def merge_site_edits(params: MergeParams, call: Call) -> ToolResult:
    """Merge the edits of a website into an article of the caller's account."""
    invalid = [name for name, side in params.choices.items() if side == "both" and not name.isdecimal()]
    if invalid:
        raise InvalidInput(f"choices.{invalid[0]}", "takes article or site; both is for blocks of the body")
    result = await merge_edits(
        context(call),
        call.caller.subject,
        params.publication_id,
        params.choices,
        dry_run=params.dry_run,
        origin=call.caller.connection_name,
    )
    conflicts = [(str(conflict.number), conflict) for conflict in result.conflicts] + [
        (conflict.name, conflict) for conflict in result.field_conflicts
    ]
    rows = [_conflict(key, conflict) for key, conflict in conflicts[:_MAX_CONFLICTS]]
    data = MergeResult(
        publication_id=result.publication.id,
        content_id=result.publication.article_id,
        version=result.update.article.version if result.update is not None else None,
        edited=result.edited,
        diff=_shortened(result.diff),
        fields=dict(result.fields or {}),
        conflicts=rows,
    )
    return ToolResult(_result_text(result, data), data)


def _result_text(result: SiteEdits, data: MergeResult) -> str:
    if not result.edited:
        return f"The post of {data.publication_id} was not edited on the site; nothing was written."
    lines = [f"{name}: now {value!r} on the site" for name, value in data.fields.items()]
    lines += [data.diff] if data.diff else []
    for row in data.conflicts:
        lines.append(f"Conflict {row.key}\n- before: {row.before}\n- article: {row.article}\n- site: {row.site}")
    if data.conflicts:
        count = len(result.conflicts) + len(result.field_conflicts)
        head = f"Nothing was written: {count} conflicts. Ask the user, then repeat with choices."
        if count > len(data.conflicts):
            head += f" The first {len(data.conflicts)} are shown; choices of all of them bring the next."
    elif result.update is None:
        head = "Nothing was written: a dry run. Without conflicts."
    else:
        head = f"{data.content_id} has the edits as version {data.version}; publish_content sends it."
    return "\n".join([head, *lines])


def _shortened(diff: str) -> str:
    """Return a diff; if it is too long, cut it after a line and append a note."""
    if len(diff) <= MAX_SHOWN_LENGTH:
        return diff
    end = diff.rfind("\n", MAX_SHOWN_LENGTH // 2, MAX_SHOWN_LENGTH)
    visible = diff[: end if end > 0 else MAX_SHOWN_LENGTH]
    return (
        f"{visible}\n… the diff is cut here: {len(diff) - len(visible):,} more characters; a merge takes in all "
        "of them, and get_content shows the article then"
    )


def _conflict(key: str, conflict: MergeConflict | FieldConflict) -> ConflictRow:
    texts = (conflict.before, conflict.article, conflict.site)
    before, article, site = (
        text if len(text) <= _MAX_CONFLICT_LENGTH else f"{text[:_MAX_CONFLICT_LENGTH]}…" for text in texts
    )
    return ConflictRow(key=key, before=before, article=article, site=site)


TOOLS = (merge_site_edits,)
