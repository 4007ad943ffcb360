"""Tables, answers and examples."""
