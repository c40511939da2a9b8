"""Publishing articles to websites in repeatable steps, without losing content or creating duplicate posts."""
