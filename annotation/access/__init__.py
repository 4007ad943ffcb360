"""Who may load, see and change what, and the audit log of what they did."""
