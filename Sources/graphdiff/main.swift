// graphdiff: compares marks; everything it does is in Commands.

internal import Commands

Tool.graphdiff.runProcess()
