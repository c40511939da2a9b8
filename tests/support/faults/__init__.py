"""Every way in which a plugin can be broken; `support.distributions` gathers them."""
