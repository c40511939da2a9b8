"""Guidance for clients: how to write HTML that renders well, and the examples in the page's gallery."""

from __future__ import annotations

from typing import Final

from pressroom.sdk import Example

EXAMPLE: Final = (
    '<div style="display:flex;flex-direction:column;justify-content:space-between;width:100%;height:100%;padding:80px;'
    'background:linear-gradient(135deg,#1d1a17,#4a2c1d);color:#fff">'
    '<div style="display:flex;font-size:28px;color:#f0b89a">example.com</div>'
    '<div style="display:flex;font-size:84px;font-weight:800;line-height:1.1;letter-spacing:-2px">'
    "A title that fits on two lines</div></div>"
)
"""An image that follows every rule below."""

GUIDANCE: Final = f"""\
Makes an image (PNG or JPEG) for links, social networks, banners and stories. Returns a link that works for \
three hours, and the image itself: look at it before you pass it on, and fix what its warnings name. It \
counts as one generated image.
Give template or html, never both.
1. template: og (1200x630), twitter-header, linkedin-banner, square or story, with props such as title, \
subtitle, eyebrow, author, siteName, logoUrl, imageUrl, avatarUrl, theme (light, dark, gradient, minimal, bold), \
accentColor (hex) and align (left, center). Prefer it: colours, sizes and line breaks are done for you. Leave \
width and height out; each template has its own.
2. html, at most 10,000 characters, for a design of your own. The canvas is 1200x630 unless you give width and \
height. Rules that make it look right:
- One root <div> with display:flex;width:100%;height:100%, a background of its own and padding of 60 to 100px.
- Style attributes only: no <style>, classes, scripts or media queries. Write display:flex and flex-direction \
on every element that has elements in it, and space them with gap, justify-content and align-items, not with \
margins or <br>.
- Sizes in px. Titles: 56 to 96px, font-weight 700 to 900, line-height 1.05 to 1.2, letter-spacing -1 to -3px, \
at most about 60 characters. Other text: at least 24px. text-wrap:balance evens lines, line-clamp cuts them.
- Strong contrast between text and background; one accent colour; nothing nearer than 60px to an edge but \
decoration.
- Fonts: Inter (the default, weights 100 to 900), serif (Source Serif 4), mono (JetBrains Mono). Emoji and most \
scripts work.
- Also drawn: linear-, radial- and conic-gradient, border-radius, borders, box-shadow, text-shadow, opacity, \
transform, filter, background-clip:text, position:absolute for decoration, simple grids, inline <svg>.
- Images: <img> with an https:// or data:image/ URL, and with width, height and object-fit:cover; at most \
10. url() in styles takes data:image/ only.
Example: {EXAMPLE}"""


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
    Example("Quote in HTML", {"html": QUOTE}),
    Example("Release in HTML", {"html": RELEASE}),
    Example("Numbers in HTML", {"html": NUMBERS}),
)
