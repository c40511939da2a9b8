"""What a plugin says of a platform: how its websites are connected and opened, and what they can show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from pressroom.sdk import Fetcher

from pressroom_content.contract.sites import Capabilities, Site, SiteAddress, TermKind

_PLATFORM: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CredentialField:
    """A field of the form in which people type a site's credential. `secret` ones are never shown again.

    `pattern` is a regular expression that the whole value has to match; `hint` says where people find the value, and
    `page` leads there: a path on the website, such as `wp-admin/profile.php`. `multiline` values, such as keys in PEM,
    are typed into a larger field and keep their lines, which end in a line feed.
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

    def __call__(self, address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
        """Return the site; nothing is sent yet. `credential` holds the values of the connector's `fields`."""


class ApprovalLink(Protocol):
    """Makes the link to the page on which a site hands out a credential by itself."""

    async def __call__(self, url: str, return_to: str, fetcher: Fetcher) -> str | None:
        """Return the link, or `None` where the site has no such page.

        The site redirects to `return_to` with what `SiteConnector.approved` reads.
        """


Approved = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Turns the query with which a site redirects back into a credential. Raises `SiteRejected` where it was denied."""


@dataclass(frozen=True, slots=True)
class SiteConnector:
    """A platform. Offer it through the hook `pressroom_site_connectors`.

    `platform` is its name in tools, such as `wordpress`. `needs_url` tells that people type a URL. `approval` and
    `approved` are for platforms that hand out credentials in the browser. `markdown` tells that it takes markdown
    rather than HTML. `proves_control` tells that the platform's live check can fill `ConnectionReport.site_url`.
    `sanitiser` is how much of HTML it keeps: `full` has figures, tables and iframes of known hosts, `basic` has none.
    `capabilities` are what the platform can do at best. `term_kinds` are the kinds of terms that `Site.terms` can list,
    none where the platform cannot be asked.

    `fidelity` is what readers do not get as it was written, by the names of constructs in the reference: a note that
    begins with `converted` or `lost`. Whatever is not in it arrives as it is. `fidelity_by` has more of it where it
    depends on what was chosen: by the names of fields that have `options`, and by these.
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
        """Raise `ValueError` where the platform's name cannot be one, or `fidelity_by` names an unknown option."""
        if not _PLATFORM.fullmatch(self.platform):
            raise ValueError(f"platform {self.platform!r} must be 1 to 32 lower-case letters, digits, _ and -")
        options = {one.name: one.options for one in self.fields if not one.secret}
        for name, notes in self.fidelity_by.items():
            if unknown := sorted(set(notes) - set(options.get(name, ()))):
                raise ValueError(f"fidelity_by of {self.platform!r}: {name!r} has no option {unknown[0]!r}")

    def fidelity_for(self, credential: Mapping[str, str]) -> Mapping[str, str]:
        """Return what readers of a website with this credential do not get as it was written."""
        notes = dict(self.fidelity)
        for name, by_option in self.fidelity_by.items():
            notes |= by_option.get(credential.get(name, ""), {})
        return notes
