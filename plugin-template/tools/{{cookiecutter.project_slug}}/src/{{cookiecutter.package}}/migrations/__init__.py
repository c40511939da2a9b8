"""Database migrations, one file per revision. Never change a released revision: add another that follows it."""
