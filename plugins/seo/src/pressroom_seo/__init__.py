"""Articles and sites judged for search engines and readers."""
