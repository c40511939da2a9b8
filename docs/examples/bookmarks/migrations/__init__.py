"""The migrations of the bookmarks."""
