"""From boxes to fragments: where everything stands, in pixels."""
