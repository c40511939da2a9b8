"""A host: its plugins, catalog and backends, and everything else that lives as long as it does."""
