"""Accounts and what belongs to one person: sign-up, crowd entry, sessions, own work, export and erasure."""
