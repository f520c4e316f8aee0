// PseudoTerminal.swift: runs the command at a terminal.

#if os(macOS) || os(Linux)
  import Foundation

  /// A program on a pseudo-terminal: the test presses keys and reads the screen's output.
  final class PseudoTerminal {
    private let keyboard: Int32
    private let process = Process()
    /// All output to the screen so far.
    private(set) var screen = ""

    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    init(_ program: URL, _ arguments: [String], environment: [String: String]) throws {
      keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      guard keyboard >= 0, let name = Self.otherEnd(of: keyboard) else {
        throw Failure(description: "no pseudo-terminal: \(String(cString: strerror(errno)))")
      }
      let terminal = open(name, O_RDWR | O_NOCTTY)
      guard terminal >= 0 else { throw Failure(description: "the pseudo-terminal does not open") }
      let handle = FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
      process.executableURL = program
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      (process.standardInput, process.standardOutput, process.standardError) = (handle, handle, handle)
      try Self.withInterrupts { try process.run() }
    }

    /// Runs `body` with SIGINT and SIGTERM unblocked: a process inherits the signal mask of the
    /// thread that starts it, and the threads of tests block signals.
    static func withInterrupts(_ body: () throws -> Void) rethrows {
      var (open, before) = (sigset_t(), sigset_t())
      sigemptyset(&open)
      sigaddset(&open, SIGINT)
      sigaddset(&open, SIGTERM)
      pthread_sigmask(SIG_UNBLOCK, &open, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      try body()
    }

    /// The path of the terminal for a controlling descriptor, unlocked.
    private static func otherEnd(of keyboard: Int32) -> String? {
      #if os(Linux)
        // TIOCSPTLCK and TIOCGPTN, which the C module lacks, like `ptsname`.
        var (lock, number) = (Int32(0), Int32(0))
        guard ioctl(keyboard, UInt(0x4004_5431), &lock) == 0, ioctl(keyboard, UInt(0x8004_5430), &number) == 0 else {
          return nil
        }
        return "/dev/pts/\(number)"
      #else
        guard grantpt(keyboard) == 0, unlockpt(keyboard) == 0 else { return nil }
        return ptsname(keyboard).map { String(cString: $0) }
      #endif
    }

    deinit {
      if process.isRunning { process.terminate() }
      close(keyboard)
    }

    /// Presses keys and reads until `text` appears after them.
    func press(_ keys: String, until text: String) throws { try press(Array(keys.utf8), until: text) }

    func press(_ bytes: [UInt8], until text: String) throws {
      guard write(keyboard, bytes, bytes.count) == bytes.count else { throw Failure(description: "keys were refused") }
      try wait(for: text)
    }

    /// The prompt with the cursor after it. From then on, keys are read one by one.
    static let prompt = "> \r\u{1B}[2C"

    /// Presses keys that end a line, and reads until `text` and then the prompt appear.
    func enter(_ keys: String, until text: String) throws {
      try press(keys, until: text)
      try wait(for: Self.prompt)
    }

    /// Reads until `text` appears after the last match, and consumes the output up to it.
    func wait(for text: String) throws {
      while true {
        if let found = screen.range(of: text, range: passed..<screen.endIndex) {
          passedCount = screen.distance(from: screen.startIndex, to: found.upperBound)
          return
        }
        var watched = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, 60_000) > 0 else {
          throw Failure(description: "\(text.debugDescription) never came; the screen has \(screen.debugDescription)")
        }
        var part = [UInt8](repeating: 0, count: 4096)
        let count = read(keyboard, &part, part.count)
        guard count > 0 else {
          throw Failure(description: "it ended before \(text.debugDescription): \(screen.debugDescription)")
        }
        screen += String(decoding: part.prefix(count), as: UTF8.self)
      }
    }

    private var passedCount = 0
    private var passed: String.Index { screen.index(screen.startIndex, offsetBy: passedCount) }

    /// Interrupts the program, as control-C does if the terminal does not pass it as a key.
    func interrupt() { send(SIGINT) }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// True if the terminal passes keys one by one and does not show them.
    var isRaw: Bool {
      var settings = termios()
      return tcgetattr(keyboard, &settings) == 0 && settings.c_lflag & tcflag_t(ICANON | ECHO) == 0
    }

    /// Ends the input with control-D, and returns the status.
    func end() throws -> Int32 {
      try press("\u{4}", until: "\r\n")
      return status
    }

    /// The status of the ended program.
    var status: Int32 {
      process.waitUntilExit()
      return process.terminationStatus
    }
  }
#endif
