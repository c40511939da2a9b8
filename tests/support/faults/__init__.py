"""Every way in which a plugin can be broken; `support.plugin_distributions` gathers them."""
