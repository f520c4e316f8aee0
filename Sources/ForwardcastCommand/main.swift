// main.swift: the command `forwardcast`.
// Layer: Command. See DESIGN.md, "The script".

exit(Command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
