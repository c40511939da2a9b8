"""Declarations of platforms: how websites are connected and opened, and what they can show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from pressroom.sdk import Fetcher

from pressroom_content.contract.sites import Capabilities, Site, SiteInfo, TermKind

_PLATFORM: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CredentialField:
    """A field of the form in which users enter a site's credential.

    `name` is its key in the credential. `label` is its name for people. Values of `secret` fields are never shown
    again. `required` means that it must be filled in. `options` are the values to choose from; empty means any.
    `pattern` is a regular expression that the whole value must match. `hint` tells users where to find the value, and
    `page` is the path of that page on the website, such as `wp-admin/profile.php`. Values of `multiline` fields, such
    as PEM keys, are entered in a larger field and keep their lines, which end with a line feed.
    """

    name: str
    label: str
    hint: str = ""
    secret: bool = True
    required: bool = True
    pattern: str = ""
    options: tuple[str, ...] = ()
    page: str = ""
    multiline: bool = False


class OpenSite(Protocol):
    """Opens a website."""

    def __call__(self, info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
        """Return the site without sending a request. `credential` has the values of the connector's `fields`."""


class ApprovalLink(Protocol):
    """Creates the link to the page on which a site issues a credential itself."""

    async def __call__(self, url: str, return_to: str, fetcher: Fetcher) -> str | None:
        """Return the link, or `None` if the site has no such page.

        The site redirects to `return_to` with a query that `SiteConnector.approved` reads.
        """


Approved = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Turns the query with which a site redirects back into a credential. Raises `SiteRejected` if access was denied."""


@dataclass(frozen=True, slots=True)
class SiteConnector:
    """A platform. Offer it through the hook `pressroom_site_connectors`.

    `platform` is its name in tools, such as `wordpress`. `title` is its name for people. `summary` is a sentence for
    whoever chooses a platform. `open` returns a site with its credential. `fields` are what users enter as the
    credential. `needs_url` means that users enter a URL. `approval` and `approved` are for platforms that issue
    credentials in the browser. `markdown` means that the platform takes Markdown instead of HTML. `proves_control`
    means that the platform's live check can fill `ConnectionReport.site_url`. `sanitiser` is how much HTML the
    platform keeps: `full` includes figures, tables and iframes of known hosts, `basic` does not. `capabilities` are all
    that the platform can do. `term_kinds` are the kinds of terms that `Site.terms` can list; leave it empty if the
    platform cannot list any.

    `fidelity` lists constructs that readers do not see as written: it maps their names in the reference to notes that
    begin with `converted` or `lost`. Constructs that are not listed arrive unchanged. `fidelity_by` adds notes that
    depend on the credential: it maps names of fields that have `options`, and then each option, to such notes.
    """

    platform: str
    title: str
    summary: str
    open: OpenSite
    capabilities: Capabilities
    fields: tuple[CredentialField, ...] = ()
    needs_url: bool = True
    approval: ApprovalLink | None = None
    approved: Approved | None = None
    markdown: bool = False
    proves_control: bool = False
    sanitiser: Literal["full", "basic"] = "full"
    term_kinds: tuple[TermKind, ...] = ()
    fidelity: Mapping[str, str] = field(default_factory=dict)
    fidelity_by: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ValueError` if the platform's name is invalid, or `fidelity_by` contains an unknown option."""
        if not _PLATFORM.fullmatch(self.platform):
            raise ValueError(f"platform {self.platform!r} must be 1 to 32 lower-case letters, digits, _ and -")
        options = {
            credential_field.name: credential_field.options
            for credential_field in self.fields
            if not credential_field.secret
        }
        for name, notes in self.fidelity_by.items():
            if unknown := sorted(set(notes) - set(options.get(name, ()))):
                raise ValueError(f"fidelity_by of {self.platform!r}: {name!r} has no option {unknown[0]!r}")

    def fidelity_for(self, credential: Mapping[str, str]) -> Mapping[str, str]:
        """Return the notes on constructs that readers of a website with this credential do not see as written."""
        notes = dict(self.fidelity)
        for name, by_option in self.fidelity_by.items():
            notes |= by_option.get(credential.get(name, ""), {})
        return notes
