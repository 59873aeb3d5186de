// memgraph-lint: what `memgraph lint` runs; everything it does is in LintCommand.

internal import LintCommand

LintTool.runProcess()
