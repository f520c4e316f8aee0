// main.swift: the command `forwardcast`.
// Layer: Command. See the article "How the script works".

exit(Command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
