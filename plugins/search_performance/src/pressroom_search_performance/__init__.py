"""Search figures of websites: nightly fetching, analysis and charts."""
