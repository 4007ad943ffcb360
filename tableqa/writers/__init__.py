"""Writers of published formats, field for field, and of tables and documents for papers."""
