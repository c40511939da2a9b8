"""The dashboard's pages with search figures, as charts and tables."""
