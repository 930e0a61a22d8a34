"""Third-party libraries that pages contain."""
