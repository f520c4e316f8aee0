// main.swift: the command `forwardcast`.

exit(Command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
