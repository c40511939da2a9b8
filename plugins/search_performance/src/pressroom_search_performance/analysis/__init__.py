"""Analysis of search figures: opportunities and keyword ideas."""
