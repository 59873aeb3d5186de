// graphdiff: compares marks; everything it does is in Commands.
