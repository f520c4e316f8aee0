// main.swift: the cost of the library compared with hand-written code, in one run.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

let options: Options
do {
  options = try Options(Array(CommandLine.arguments.dropFirst()))
} catch {
  complain("\(error)\n\(Options.help)\n")
  exit(64)
}

if options.isHelp {
  print(Options.help)
  exit(0)
}

startSleepingThread()

#if DEBUG
  complain("this is a debug build: its figures say nothing; use swift run -c release\n")
#endif

let progress = Progress()
let bench = Bench(filter: options.filter, isQuick: options.isQuick, progress: progress)
bench.typedRows()
bench.growthRows()
bench.heapRows()
bench.pinnedRows()
bench.boxedRows()
bench.allocationRows()
bench.respondsRows()
bench.registryRows()
bench.churnRows()
bench.firstRows()
bench.memoryRows()
bench.threadRows()
await bench.queuedRows()
progress.finish()

print(Report.table(bench.figures))
print("\n" + Report.summary(bench.figures))

/// Writes a file of the command line, or ends the program.
func write(_ text: String, to path: String) {
  guard !Report.write(text, to: path) else { return }
  complain("cannot write \(path)\n")
  exit(73)
}

if let path = options.json { write(Report.json(bench.figures), to: path) }
if let path = options.markdown { write(Report.markdown(bench.figures, conditions()), to: path) }
if let path = options.svg {
  if let drawing = Growth(bench.figures).svg {
    write(drawing, to: path)
  } else {
    complain("nothing to draw: no line has a cost per delivery at two sizes\n")
  }
}
