"""Articles: their fields, versions and storage, and everything else that happens before publishing."""
