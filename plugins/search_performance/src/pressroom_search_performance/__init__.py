"""Search figures of websites: fetching them every night, and what they tell."""
