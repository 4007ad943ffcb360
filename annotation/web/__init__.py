"""Pages and REST API: views, forms, API, board and URLs."""
