"""The rungs of the resolution ladder: each decides which names are one thing, by one kind of evidence."""
