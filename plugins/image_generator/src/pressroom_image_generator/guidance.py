"""What a model is told before it makes a picture: how to write HTML that renders well."""

from __future__ import annotations

from typing import Final

EXAMPLE: Final = (
    '<div style="display:flex;flex-direction:column;justify-content:space-between;width:100%;height:100%;padding:80px;'
    'background:linear-gradient(135deg,#1d1a17,#4a2c1d);color:#fff">'
    '<div style="display:flex;font-size:28px;color:#f0b89a">example.com</div>'
    '<div style="display:flex;font-size:84px;font-weight:800;line-height:1.1;letter-spacing:-2px">'
    "A title that fits on two lines</div></div>"
)
"""A picture that keeps to every rule below."""

GUIDANCE: Final = f"""\
Makes a picture (PNG or JPEG) for links, social networks, banners and stories. Returns a link that works for \
three hours, and the picture itself: look at it before you pass it on, and fix what its warnings name. It \
counts as one generated image.
Give template or html, never both.
1. template: og (1200x630), twitter-header, linkedin-banner, square or story, with props such as title, \
subtitle, eyebrow, author, siteName, logoUrl, imageUrl, avatarUrl, theme (light, dark, gradient, minimal, bold), \
accentColor (hex) and align (left, center). Prefer it: colours, sizes and line breaks are done for you. Leave \
width and height out; each template has its own.
2. html, at most 10,000 characters, for a design of your own. The canvas is 1200x630 unless you give width and \
height. Rules that make it look right:
- One root <div> with display:flex;width:100%;height:100%, a background of its own and padding of 60 to 100px.
- Style attributes alone: no <style>, classes, scripts or media queries. Write display:flex and flex-direction \
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
- Pictures: <img> with an https:// or data:image/ address, and with width, height and object-fit:cover; at most \
10. url() in styles takes data:image/ alone.
Example: {EXAMPLE}"""
