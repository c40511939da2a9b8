"""Back up a server's data, and restore it."""

from pressroom.backup.archive import Manifest
from pressroom.backup.make import CompletedBackup, make_backup
from pressroom.backup.restore import RestoredBackup, restore_backup

__all__ = ["CompletedBackup", "Manifest", "RestoredBackup", "make_backup", "restore_backup"]
