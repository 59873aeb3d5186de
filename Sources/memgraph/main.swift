// memgraph: the command line tool; everything it does is in Commands and ExportCommand.

internal import Commands
internal import ExportCommand

Tool.memgraph.adding(.export, after: "view").runProcess()
