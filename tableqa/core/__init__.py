"""Values, texts, files and messages: what every other package uses."""
