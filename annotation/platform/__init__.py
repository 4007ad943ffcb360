"""What needs no table: prepared statements, bulk rows, ids, refusals, texts on display, database backends."""
