"""Descriptions of the generator for models, and the examples in the page's gallery."""

from __future__ import annotations

from typing import Final

from pressroom.sdk import Example, Mcp

MCP: Final = Mcp(
    name="generate_image",
    quota="images_generated",
    description=(
        "Makes an image with text. Prefer template with props, which fits sizes, colours and line breaks. Returns the "
        "image, warnings to check it for, and a link that works for three hours. Pass the link to import_image to "
        "illustrate an article."
    ),
    descriptions={
        "html": (
            "A root <div> with width and height 100%, background and 60px padding; inline styles, text from 24px; "
            "<img src> is https."
        ),
        "template": "Design for props.",
        "props": "For template.",
        "props.title": "Headline.",
        "props.subtitle": "Subtitle.",
        "props.eyebrow": "Kicker.",
        "props.author": "Author.",
        "props.siteName": "Site.",
        "props.items": "Lines.",
        "props.theme": "Style.",
        "props.accentColor": "Brand colour.",
        "props.align": "Alignment.",
        "props.logoUrl": "Logo, https.",
        "props.imageUrl": "Photo.",
        "props.avatarUrl": "Author's photo.",
        "width": "Pixels; default 1200 or the template's.",
        "height": "Pixels; default from width.",
        "format": "jpeg for photos.",
    },
    hide=("aspectRatio", "props.backgroundColor", "scale"),
)
"""The MCP tool of the generator."""

QUOTE: Final = """\
<div style="display:flex; flex-direction:column; justify-content:center; gap:48px; width:100%; height:100%;
            padding:0 120px; background:#f4efe6; color:#1d1a17; font-family:serif">
  <div style="display:flex; font-size:180px; line-height:0.6; height:72px; color:#b9502a">\u201c</div>
  <div style="display:flex; font-size:72px; line-height:1.15; letter-spacing:-1px; text-wrap:balance">
    Simplicity is prerequisite for reliability.
  </div>
  <div style="display:flex; align-items:center; gap:20px; font-family:Inter; font-size:28px; color:#645c53">
    <div style="width:56px; height:2px; background:#b9502a"></div>
    Edsger W. Dijkstra
  </div>
</div>
"""

RELEASE: Final = """\
<div style="display:flex; flex-direction:column; justify-content:space-between; width:100%; height:100%;
            padding:72px 80px; background:radial-gradient(circle at 85% 0%, #3b2f80, #12101f 62%); color:#f5f3ff">
  <div style="display:flex; align-items:center; gap:20px; font-size:28px">
    <div style="padding:10px 22px; border-radius:99px; background:#7c5cff; font-weight:700">New</div>
    <span style="color:#b9b0e8">example.com/changelog</span>
  </div>
  <div style="display:flex; font-size:104px; font-weight:800; line-height:1; letter-spacing:-4px">Version 3.2</div>
  <div style="display:flex; flex-wrap:wrap; gap:16px; font-size:28px">
    <div style="padding:16px 28px; border:1px solid #ffffff33; border-radius:16px">Dark mode</div>
    <div style="padding:16px 28px; border:1px solid #ffffff33; border-radius:16px">Faster search</div>
    <div style="padding:16px 28px; border:1px solid #ffffff33; border-radius:16px">CSV export</div>
  </div>
</div>
"""

NUMBERS: Final = """\
<div style="display:flex; flex-direction:column; justify-content:space-between; width:100%; height:100%; padding:72px;
            background:#0f766e; color:#ecfdf5">
  <div style="display:flex; font-size:44px; font-weight:700">The year in numbers</div>
  <div style="display:grid; grid-template-columns:1fr 1fr 1fr; gap:24px">
    <div style="display:flex; flex-direction:column; gap:8px; padding:36px; border-radius:28px; background:#ffffff1f">
      <span style="font-size:84px; font-weight:800; letter-spacing:-3px">128</span>
      <span style="font-size:28px">articles</span>
    </div>
    <div style="display:flex; flex-direction:column; gap:8px; padding:36px; border-radius:28px; background:#ffffff1f">
      <span style="font-size:84px; font-weight:800; letter-spacing:-3px">2.4M</span>
      <span style="font-size:28px">readers</span>
    </div>
    <div style="display:flex; flex-direction:column; gap:8px; padding:36px; border-radius:28px;
                background:#fde68a; color:#134e4a">
      <span style="font-size:84px; font-weight:800; letter-spacing:-3px">+61%</span>
      <span style="font-size:28px">growth</span>
    </div>
  </div>
  <div style="display:flex; font-size:28px; color:#a7f3d0">example.com</div>
</div>
"""

EXAMPLES: Final = (
    Example(
        "Link preview",
        {
            "template": "og",
            "props": {
                "eyebrow": "Engineering",
                "title": "What a year of small releases taught us",
                "subtitle": "Fewer surprises, calmer Fridays, and a changelog that people read.",
                "author": "Ada Lovelace",
                "siteName": "example.com",
            },
        },
    ),
    Example(
        "Header for X",
        {
            "template": "twitter-header",
            "props": {"title": "Tools for people who write", "siteName": "example.com", "theme": "dark"},
        },
    ),
    Example(
        "LinkedIn banner",
        {
            "template": "linkedin-banner",
            "props": {
                "title": "We make publishing boring",
                "subtitle": "In the best sense of the word",
                "theme": "gradient",
                "accentColor": "#4f46e5",
            },
        },
    ),
    Example(
        "Square post",
        {
            "template": "square",
            "props": {"eyebrow": "New", "title": "Version 2 is here", "theme": "bold", "accentColor": "#0f766e"},
        },
    ),
    Example(
        "Story as JPEG",
        {
            "template": "story",
            "props": {
                "title": "Five questions to ask before you publish",
                "siteName": "example.com",
                "theme": "minimal",
                "align": "center",
            },
            "format": "jpeg",
        },
    ),
    Example(
        "Quote",
        {
            "template": "quote",
            "props": {
                "title": "Simplicity is prerequisite for reliability.",
                "author": "Edsger W. Dijkstra",
                "subtitle": "Computer scientist",
                "theme": "minimal",
            },
        },
    ),
    Example(
        "Changelog",
        {
            "template": "changelog",
            "props": {
                "eyebrow": "Version 3.2",
                "title": "Faster search, calmer nights",
                "items": ["Search answers in 40 ms", "Dark mode on every page", "CSV export", "Keyboard shortcuts"],
                "siteName": "example.com",
                "theme": "dark",
                "accentColor": "#22c55e",
            },
        },
    ),
    Example(
        "Figures",
        {
            "template": "stats",
            "props": {
                "eyebrow": "Year in review",
                "title": "2026 in numbers",
                "items": ["128 articles", "2.4M readers", "+61% growth"],
                "theme": "bold",
                "accentColor": "#0f766e",
            },
        },
    ),
    Example(
        "Event",
        {
            "template": "event",
            "props": {
                "eyebrow": "12 Oct",
                "title": "Write the Docs meetup in Lisbon",
                "subtitle": "Casa do Alentejo, 18:30. Free entry.",
                "theme": "dark",
                "accentColor": "#2563eb",
            },
        },
    ),
    Example("Quote in HTML", {"html": QUOTE}),
    Example("Release in HTML", {"html": RELEASE}),
    Example("Numbers in HTML", {"html": NUMBERS}),
)
