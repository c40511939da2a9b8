"""The drawing toolkit for plugins that make images. Install it as the extra `graphics`."""
