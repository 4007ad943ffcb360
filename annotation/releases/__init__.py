"""What a release is made of, read and verified without a database."""
