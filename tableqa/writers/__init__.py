"""Writers of published formats: what is written is what the publication's own files hold, field for field."""
