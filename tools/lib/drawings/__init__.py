"""The drawings of the documents that tools/screenshots makes: see there."""
