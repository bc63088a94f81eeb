"""Where the service keeps what it has acknowledged: SQLite in a folder, or PostgreSQL by its URL."""
