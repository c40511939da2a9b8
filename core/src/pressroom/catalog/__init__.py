"""The catalog compiled at start-up: tools, plan views, descriptors and schemas."""
