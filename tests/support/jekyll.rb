# What Jekyll 4 does with a body by default: Liquid first, then kramdown with the parser for GitHub's Markdown.
require "kramdown"
require "kramdown-parser-gfm"
require "liquid"

body = $stdin.read.force_encoding("UTF-8")
shown = Liquid::Template.parse(body).render({ "site" => { "url" => "https://ran.example" } })
options = { input: "GFM", hard_wrap: false, auto_ids: true, smart_quotes: "lsquo,rsquo,ldquo,rdquo", syntax_highlighter: nil }
print Kramdown::Document.new(shown, options).to_html
