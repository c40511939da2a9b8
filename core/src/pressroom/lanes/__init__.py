"""Where tools run: the event loop, threads and worker processes."""

from pressroom.lanes.lanes import Lanes
from pressroom.lanes.work import Work

__all__ = ["Lanes", "Work"]
