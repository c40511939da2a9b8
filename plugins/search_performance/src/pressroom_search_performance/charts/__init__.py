"""The dashboard pages that show search figures as charts and tables."""
