// main.swift: does an exact amount of work, for tools that count instructions instead of time.
// usage: cost-client CASE MESSAGES TARGETS

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 3, let messages = Int(words[1]), let targets = Int(words[2]), messages >= 0, targets >= 0 else {
  fatalError("usage: cost-client CASE MESSAGES TARGETS")
}
try Count(messages: messages, targets: targets).run(words[0])
