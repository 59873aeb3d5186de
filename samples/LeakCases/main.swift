// Runs one case: LeakCases NAME [--opposite | --fixed-by-advice], or lists them: LeakCases --list.
import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
let chosen = LeakCase.all.first { $0.name == arguments.first }

if arguments == ["--list"] {
  for each in LeakCase.all { print(each.name) }
} else if let chosen, arguments.count == 1 {
  await chosen.run(.asNamed)
} else if let chosen, arguments.dropFirst() == ["--opposite"] {
  await chosen.run(.opposite)
} else if let chosen, arguments.dropFirst() == ["--fixed-by-advice"] {
  await chosen.run(.advised)
} else {
  let usage = "usage: LeakCases NAME [--opposite | --fixed-by-advice] | --list\n"
  write(STDERR_FILENO, usage, usage.utf8.count)
  exit(2)
}
