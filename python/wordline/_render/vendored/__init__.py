"""Libraries of others that pages contain."""
