"""What leaves the program: files that are whole or not there, files that describe themselves, data frames."""
