"""Converting texts between Markdown, HTML and plain text, sanitising HTML, and counting words."""
