// memgraph: the command line tool; everything it does is in Commands.

internal import Commands

Tool.memgraph.runProcess()
