"""The parts of the CSS reference about text."""

from __future__ import annotations

from typing import Final

from support.css_reference import (
    Entry,
    Group,
    frame,
    paragraph,
    span,
    words,
)

LONG = "A headline that is longer than the line it has"

FONTS: Final = Group(
    "fonts",
    "Fonts",
    "`Inter` is the default; `serif` is Source Serif 4, `mono` is JetBrains Mono. Other scripts and emoji use "
    "fonts that contain them. An unknown family is replaced without a warning.",
    (
        Entry(
            "font-family",
            ("Inter", "serif", "mono", "'Source Serif 4', serif"),
            words(
                "",
                " ".join(map(span, ("font-family:Inter", "font-family:serif", "font-family:mono"))),
            ),
        ),
        Entry(
            "font-size",
            ("48px", "2em", "150%", "large", "smaller"),
            words(
                "",
                " ".join(map(span, ("font-size:18px", "font-size:36px", "font-size:64px"))),
            ),
        ),
        Entry(
            "font-weight",
            ("100", "400", "bold", "900"),
            words(
                "",
                " ".join(map(span, ("font-weight:200", "font-weight:500", "font-weight:900"))),
            ),
            "Inter has every weight from 100 to 900.",
        ),
        Entry("font-style", ("normal", "italic", "oblique"), words("font-style:italic;font-family:serif")),
        Entry("font", ("italic 700 40px/1.2 serif",), words("font:italic 700 40px/1.2 serif")),
        Entry(
            "font-kerning",
            ("auto", "normal", "none"),
            words("font-size:48px", 'AVAT <span style="font-kerning:none">AVAT</span>'),
        ),
        Entry(
            "font-variant-ligatures",
            ("normal", "none"),
            words("font-family:mono;font-size:44px", '-&gt; <span style="font-variant-ligatures:none">-&gt;</span>'),
        ),
        Entry(
            "font-variant-numeric",
            ("normal", "tabular-nums", "lining-nums", "oldstyle-nums", "proportional-nums", "slashed-zero"),
            words("font-size:32px", '<div>117.10</div><div style="font-variant-numeric:tabular-nums">117.10</div>'),
        ),
        Entry(
            "font-variant font-variant-caps",
            ("small-caps", "normal"),
            words("font-variant:small-caps;font-family:serif", "Small Capitals"),
            "A font without small capitals keeps its letters.",
        ),
        Entry(
            "font-feature-settings",
            ("'tnum'", "'ss01' 1, 'zero' 1", "normal"),
            words("font-size:44px", "1/2 " + span("font-feature-settings:'frac'", "1/2")),
        ),
        Entry(
            "color",
            (
                "#b9502a",
                "rebeccapurple",
                "rgb(185 80 42 / 80%)",
                "hsl(16 63% 45%)",
                "oklch(60% 0.15 40)",
                "currentcolor",
            ),
            words("color:#b9502a;font-weight:700"),
        ),
    ),
)

TEXT: Final = Group(
    "text",
    "Text",
    "Text is shaped, broken into lines and ordered according to Unicode, including right-to-left scripts.",
    (
        Entry(
            "line-height",
            ("1.2", "48px", "150%", "normal"),
            paragraph("line-height:1.7", "Lines with a lot<br>of space between"),
        ),
        Entry("letter-spacing", ("2px", "-0.02em", "normal"), words("letter-spacing:6px;font-size:30px", "SPACED")),
        Entry(
            "word-spacing", ("12px", "0.5em", "normal"), words("word-spacing:24px;font-size:26px", "far apart words")
        ),
        Entry(
            "text-align",
            ("start", "end", "left", "right", "center", "justify"),
            paragraph("text-align:right", "Texts that end<br>at the right"),
        ),
        Entry(
            "text-indent",
            ("32px", "10%"),
            paragraph("text-indent:48px", "The first line begins further in than the rest of them."),
        ),
        Entry(
            "text-transform",
            ("none", "uppercase", "lowercase", "capitalize"),
            words("text-transform:uppercase;font-size:30px", "upper case"),
        ),
        Entry(
            "text-wrap",
            ("wrap", "nowrap", "balance", "pretty", "stable"),
            paragraph(
                "text-wrap:balance;text-align:center;font-size:24px", "Balanced lines have about the same length"
            ),
        ),
        Entry(
            "white-space",
            ("normal", "nowrap", "pre", "pre-wrap", "pre-line", "break-spaces"),
            paragraph("white-space:pre;font-family:mono;font-size:18px", "if spaces:\n    keep(them)\nelse:\n    pass"),
        ),
        Entry(
            "tab-size", ("8", "4"), paragraph("white-space:pre;tab-size:4;font-family:mono", "one\ttwo\nthree\tfour")
        ),
        Entry(
            "word-break",
            ("normal", "break-all", "keep-all", "break-word"),
            paragraph("word-break:break-all", "Words break anywhere: incomprehensibility"),
        ),
        Entry(
            "overflow-wrap word-wrap",
            ("normal", "break-word", "anywhere"),
            paragraph("overflow-wrap:anywhere", "https://example.com/a-very-long-address-without-a-space"),
        ),
        Entry(
            "text-overflow",
            ("clip", "ellipsis"),
            frame(
                "display:flex;align-items:center",
                f'<div style="overflow:hidden;white-space:nowrap;text-overflow:ellipsis;font-size:24px">{LONG}</div>',
            ),
            "It needs `overflow:hidden` and `white-space:nowrap`.",
        ),
        Entry(
            "line-clamp -webkit-line-clamp",
            ("2", "none"),
            frame(
                "",
                f'<div style="line-clamp:2;font-size:24px;line-height:1.3">{LONG}, and goes on in a third one</div>',
            ),
        ),
        Entry(
            "vertical-align",
            ("baseline", "top", "bottom", "middle", "text-top", "text-bottom", "sub", "super"),
            words(
                "",
                f"H{span('vertical-align:sub;font-size:22px', '2')}O, "
                f"x{span('vertical-align:super;font-size:22px', '2')}",
            ),
        ),
        Entry(
            "list-style list-style-type",
            (
                "disc",
                "circle",
                "square",
                "decimal",
                "lower-alpha",
                "upper-alpha",
                "lower-roman",
                "upper-roman",
                "none",
            ),
            frame(
                "",
                '<ol style="margin:0;padding-left:40px;list-style-type:upper-alpha;font-size:22px;line-height:1.4">'
                "<li>First</li><li>Second</li><li>Third</li></ol>",
            ),
        ),
    ),
)

DECORATION: Final = Group(
    "decoration",
    "Lines, shadows and outlines of text",
    "",
    (
        Entry(
            "text-decoration text-decoration-line",
            ("underline", "line-through", "overline", "none"),
            words("text-decoration:underline"),
        ),
        Entry(
            "text-decoration-style",
            ("solid", "double", "dotted", "dashed", "wavy"),
            words("text-decoration:underline;text-decoration-style:wavy"),
        ),
        Entry(
            "text-decoration-color",
            ("#b9502a", "currentcolor"),
            words("text-decoration:underline;text-decoration-color:#b9502a;text-decoration-thickness:4px"),
        ),
        Entry(
            "text-decoration-thickness",
            ("4px", "10%", "auto", "from-font"),
            words("text-decoration:underline;text-decoration-thickness:8px"),
        ),
        Entry("text-underline-offset", ("8px", "auto"), words("text-decoration:underline;text-underline-offset:12px")),
        Entry(
            "text-shadow",
            ("2px 2px 4px #00000066", "0 0 12px gold, 1px 1px 0 #000", "none"),
            words("text-shadow:3px 3px 0 #e0a458, 6px 6px 8px #00000055;font-weight:800"),
        ),
        Entry(
            "-webkit-text-stroke text-stroke -webkit-text-stroke-width -webkit-text-stroke-color",
            ("2px #b9502a", "1px"),
            words("-webkit-text-stroke:2px #b9502a;color:#faf7f2;font-weight:800;font-size:44px", "Outline"),
        ),
        Entry(
            "-webkit-text-fill-color",
            ("#b9502a", "transparent"),
            words("-webkit-text-fill-color:#2f6f62;font-weight:800"),
        ),
    ),
)
