"""The platform: people, projects, batches, items, annotations, decisions, releases. The only package with a database."""
