"""What only the owner may know: keys, and the answers and pseudonyms that are functions of them."""
