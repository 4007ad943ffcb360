"""Jobs in the background, and the uploaded files that they read in their own process."""
