"""Jobs in the background, and the uploaded files that they read in a process of their own."""
