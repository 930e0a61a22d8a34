"""Files of other programs as loads and devices."""
