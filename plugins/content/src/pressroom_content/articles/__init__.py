"""Articles: what they hold, their versions, and everything that is done with them before they are published."""
