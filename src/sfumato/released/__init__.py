"""What a release is made of: its parts, its description, its writer, and how the releases of two parties join."""
