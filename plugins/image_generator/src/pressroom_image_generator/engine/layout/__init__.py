"""Layout: from boxes to fragments with positions in pixels."""
