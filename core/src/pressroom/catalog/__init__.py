"""What was compiled at start-up: tools, plan views, descriptors and schemas."""
