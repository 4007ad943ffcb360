"""Tables of figures and documents as text, Markdown, LaTeX, HTML and CSV."""
