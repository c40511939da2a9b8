"""The plugin's pages in the dashboard."""
