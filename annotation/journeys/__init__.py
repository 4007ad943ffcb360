"""What people set out to do, from beginning to end. None knows another; what they share lies beneath."""
