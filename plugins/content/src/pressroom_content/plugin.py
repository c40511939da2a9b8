"""The content plugin: websites, articles that people write with their AI clients, and where these are published."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from pressroom.sdk import (
    Check,
    IndexEntries,
    Instructions,
    Job,
    Lifespan,
    McpTool,
    Models,
    OverviewSection,
    Plugin,
    PluginContext,
    PublishingTargets,
    Route,
    SharedKeys,
    StorageKind,
    VirtualHosts,
    hookimpl,
)

from pressroom_content.config import ContentConfig
from pressroom_content.contract import Language, SiteConnector
from pressroom_content.contract.hookspecs import ContentHooks

PLUGIN = Plugin(
    id="content",
    api="1",
    title="Content",
    summary="Writes, schedules and publishes articles on your websites, with versions, a calendar and brand voices.",
    config=ContentConfig,
    hookspecs=ContentHooks,
    templates=("pressroom_content.pages", "pressroom_content.builtin_site"),
    unique={
        "pressroom_site_connectors": "platform",
        "pressroom_image_sources": "name",
        "pressroom_search_sources": "name",
        "pressroom_media_libraries": "name",
        "pressroom_article_scorers": "name",
        "pressroom_article_reviewers": "name",
        "pressroom_languages": "code",
    },
    worker_modules=("pressroom_content.articles.analysis", "pressroom_content.articles.importing"),
)

_WORKFLOW = """\
Start with list_websites. Without a website, call connect_website and show the user its connect_url: they open it and \
sign in there. Never ask for passwords, keys or tokens in the chat.
Before you write, read get_website (brand voice, time zone, what the platform can do), list_site_taxonomies and \
list_content.
Write with create_content; check_blog_seo says what to improve; update_content with expected_version changes it.
Add images: search_images, then import_image. create_upload_url is for the user's own files.
Show the user the preview_url and ask before anything goes live.
publish_content publishes, saves a draft, schedules (publish_at is in the website's time zone), updates and retries: \
there is one post for an article and a website. list_publications with verify says what visitors see.
Measure with get_search_performance and get_content_performance; get_seo_report covers the whole website."""


@hookimpl
def pressroom_models() -> Iterable[Models]:
    """Declare the tables."""
    return [Models(_parts().METADATA, "pressroom_content.migrations")]


@hookimpl
def pressroom_shared_keys(plugin: PluginContext) -> Iterable[SharedKeys]:
    """Declare the keys that encrypt the credentials of sites."""
    keys: Iterable[SharedKeys] = _parts().shared_keys(plugin)
    return keys


@hookimpl
def pressroom_mcp_tools() -> Iterable[McpTool]:
    """Offer the tools."""
    tools: Iterable[McpTool] = _parts().TOOLS
    return tools


@hookimpl
def pressroom_mcp_instructions() -> Iterable[Instructions]:
    """Give models the steps from an idea to a live article."""
    return [Instructions(_WORKFLOW)]


@hookimpl
def pressroom_jobs(plugin: PluginContext) -> Iterable[Job]:
    """Offer the background jobs."""
    jobs: Iterable[Job] = _parts().jobs(plugin)
    return jobs


@hookimpl
def pressroom_storage() -> Iterable[StorageKind]:
    """Count articles, exports and built-in sites against the storage limit of an account's plan."""
    kinds: Iterable[StorageKind] = _parts().STORAGE
    return kinds


@hookimpl
def pressroom_publishing_targets(plugin: PluginContext) -> Iterable[PublishingTargets]:
    """List the websites that apps can publish on."""
    targets: Iterable[PublishingTargets] = _parts().publishing_targets(plugin)
    return targets


@hookimpl
def pressroom_overview(plugin: PluginContext) -> Iterable[OverviewSection]:
    """Show problems, upcoming posts, drafts and recent posts."""
    sections: Iterable[OverviewSection] = _parts().overview(plugin)
    return sections


@hookimpl
def pressroom_routes(plugin: PluginContext) -> Iterable[Route]:
    """Offer the pages and files."""
    routes: Iterable[Route] = _parts().routes(plugin)
    return routes


@hookimpl
def pressroom_virtual_hosts(plugin: PluginContext) -> Iterable[VirtualHosts]:
    """Serve built-in sites under their own domains."""
    hosts: Iterable[VirtualHosts] = _parts().virtual_hosts(plugin)
    return hosts


@hookimpl
def pressroom_index_entries(plugin: PluginContext) -> Iterable[IndexEntries]:
    """List the published articles in the text index."""
    entries: Iterable[IndexEntries] = _parts().index_entries(plugin)
    return entries


@hookimpl
def pressroom_checks(plugin: PluginContext) -> Iterable[Check]:
    """Check what other plugins contribute."""
    from pressroom_content.diagnosis import checks  # noqa: PLC0415 - loads the parsers

    return checks(plugin)


@hookimpl
def pressroom_site_connectors(plugin: PluginContext) -> Iterable[SiteConnector]:
    """Offer built-in sites."""
    return [_parts().builtin_connector(plugin)]


@hookimpl
def pressroom_languages() -> Iterable[Language]:
    """Reserve the codes of the languages whose rules are files of this plugin."""
    from pressroom_content.contract.languages import built_in_codes  # noqa: PLC0415 - no name of the contract

    return [Language(code, rules="") for code in built_in_codes()]


@hookimpl
def pressroom_lifespan(plugin: PluginContext) -> Iterable[Lifespan]:
    """Activate the languages of other plugins."""
    from pressroom_content.language.activation import languages_in_use  # noqa: PLC0415 - pydantic models load with it

    return [Lifespan("languages", lambda: languages_in_use(plugin))]


def _parts() -> ModuleType:
    from pressroom_content import parts  # noqa: PLC0415 - SQLAlchemy and the parsers load once the plugin is used

    return parts
