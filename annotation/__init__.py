"""The platform: people, projects, batches, items, annotations, decisions, releases. The only room with a database."""
