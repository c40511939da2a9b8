"""The drawing toolkit for plugins that make pictures. Install it as the extra `graphics`."""
