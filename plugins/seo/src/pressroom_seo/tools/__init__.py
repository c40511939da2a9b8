"""The tools, a module for each group. What they need besides their arguments loads with the first call."""
