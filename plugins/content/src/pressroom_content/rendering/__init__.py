"""From one form of a text to another: markdown, HTML, plain text; what is safe to show; how many words there are."""
