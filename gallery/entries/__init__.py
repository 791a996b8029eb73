"""One module per entry of the gallery."""
