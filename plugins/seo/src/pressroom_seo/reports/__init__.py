"""Site reports: resumable crawls, their findings, and the marks that users set on findings."""
