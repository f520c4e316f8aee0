// Grammar.swift: scripts from choices, so that a script can be changed a little at a time.

import TestSupport

/// A script as statements that make a world and statements that are repeated in it.
struct Candidate {
  /// Statements before the loop, in order.
  var world: [Piece] = []
  /// Statements in the loop.
  var loop: [Piece] = []

  /// The text: the loop goes on until a limit ends it.
  var text: String {
    cast + world.map(\.text).joined(separator: "\n") + "\nrepeat 1000000000 {\n  "
      + loop.map(\.text).joined(separator: "\n  ") + "\n}\n"
  }

  /// The productions of the loop and of the world: what tells kinds of scripts apart.
  var kind: String {
    let (loop, world) = (Set(loop.map(\.kind)).sorted(), Set(world.map(\.kind)).sorted())
    return loop.joined(separator: " ") + " | " + world.joined(separator: " ")
  }
}

/// One statement and the production that it came from.
struct Piece {
  let kind: String
  let text: String
}

/// The productions. Every name that one uses is made by the cast, so that most scripts run.
struct Grammar {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func pick<T>(_ choices: [T]) -> T { choices[number(0...choices.count - 1)] }

  /// A size: small ones as often as large ones.
  mutating func size(_ limit: Int) -> Int { min(limit, 1 << number(0...20)) }

  /// A long text of one kind of character, and another that is canonically equal to it where there is one.
  mutating func texts() -> (kind: String, text: String, other: String) {
    let (acute, below, family) = ("\u{301}", "\u{316}", "\u{1F469}\u{200D}\u{1F467}")
    let kinds = [
      ("ascii", "x", "x"), ("composed", "é", "e\u{301}"), ("marks", acute + below, below + acute),
      ("one mark", acute, acute),
      ("families", family, family), ("joiners", "\u{200D}", "\u{200D}"), ("flags", "\u{1F1E9}", "\u{1F1E9}"),
      ("Hangul", "각", "\u{1100}\u{1161}\u{11A8}"), ("escapes", "\\n", "\\n"), ("letters with marks", "e" + acute, "é"),
    ]
    let (kind, part, other) = pick(kinds)
    // Before marks a letter, sometimes another one at every so many.
    let (count, stride) = (size(200_000), pick([64, 60, 1_000_000]))
    func text(_ part: String) -> String {
      kind.contains("mark") && kind != "letters with marks"
        ? (0..<count / stride + 1).map { "e" + String(repeating: part, count: min(stride, count - $0 * stride) / 2) }
          .joined()
        : String(repeating: part, count: count)
    }
    return (kind, text(part), text(other) + pick(["", "", "z"]))
  }

  mutating func proxy() -> String { pick(["p0", "p1", "p2", "p3", "p4", "s0", "s1", "t"]) }
  mutating func front() -> String { pick(["f", "l", "k"]) }
  mutating func value() -> String {
    pick([
      "big", "deep", "table", "ascii", "wide", "enc", "1", "0.5", "nil", "o", "@selector(a)", "@selector(nobodyHas:)",
      "names", "other", "@[wide, other]", "@{\"k\": other}", "keys",
    ])
  }
  mutating func receiver() -> String {
    number(0...2) == 0 ? pick(["o", "w", "X"]) : number(0...2) == 0 ? front() : proxy()
  }
  mutating func message() -> String {
    switch number(0...9) {
    case 0...2: "a"
    case 3: "take: \(value())"
    case 4: "fail"
    case 5: "give"
    case 6: "typed: \(pick(["1", "big", "0.5"]))"
    case 7: "pass"
    case 8: "spin"
    default: pick(["nobodyHas", "nobodyHas: 1", "both: \(value()) and: \(value())"])
    }
  }
  mutating func send() -> String { "[\(receiver()) \(message())]" }

  mutating func expression() -> Piece {
    switch number(0...15) {
    case 0...2: return Piece(kind: "send", text: send())
    case 3:
      return Piece(kind: "collect", text: "collect \(pick(["all", "last", "sum", "first", "any", "every"])) \(send())")
    case 4: return Piece(kind: "errors", text: "errors \(send())")
    case 5: return Piece(kind: "report", text: "report \(send())")
    case 6: return Piece(kind: "count", text: "count \(proxy())")
    case 7: return Piece(kind: "targets", text: "targets \(proxy())")
    case 8: return Piece(kind: "calls", text: "calls k")
    case 9:
      return Piece(
        kind: "responds", text: "\(receiver()) responds \"\(pick(["a", "take:", "nobodyHas", "nobodyHas:"]))\"")
    case 10:
      let query = pick(["types", "offsets", "sizes", "aligns", "frame", "returns"])
      return Piece(kind: query, text: "\(query) \(pick(["(signature enc)", "sig"]))")
    case 11: return Piece(kind: "size", text: "\(pick(["size", "align"])) \(pick(["record", "\"{P=dd}\"", "enc"]))")
    case 12:
      return Piece(
        kind: "text",
        text:
          "[\(pick(["ascii", "wide", "enc", "other"])) \(pick(["length", "uppercased", "appending: ascii", "appending: wide"]))]"
      )
    case 13:
      return Piece(
        kind: "list",
        text: pick([
          "[big adding: big]", "[big at: 3]", "[table at: ascii]", "[table at: wide]", "@[big, big]", "@{\"a\": table}",
          "[keys at: other]", "[big adding: 1]",
        ]))
    case 14:
      return Piece(
        kind: "make",
        text: pick(["new R", "new R name: ascii", "selector wide", "arity ascii", "service R", "services"]))
    default: return Piece(kind: "sum", text: "[1 add: \(pick(["2", "0.5"]))]")
    }
  }

  /// A statement of the loop.
  mutating func statement() -> Piece {
    let (left, right) = (expression(), value())
    switch number(0...24) {
    case 0...4: return left
    case 21:
      return Piece(
        kind: "expect texts", text: "expect \(pick(["wide == other", "@[wide] == @[other]", "keys == table"]))")
    case 22: return Piece(kind: "throws text", text: "expect [w fail] throws \"\(pick(["x", "e", texts().text]))\"")
    case 23: return Piece(kind: "print keys", text: "print \(pick(["keys", "@[keys, keys]", "wide", "big", "table"]))")
    case 24:
      let names = (0..<number(1...20)).map { "\"s\($0 * number(1...400))\"" }.joined(separator: ", ")
      return Piece(kind: "only", text: "add \(pick(["o", "w"])) to \(proxy()) only @[\(names)]")
    case 5: return Piece(kind: "print \(left.kind)", text: "print \(left.text)")
    case 6: return Piece(kind: "expect \(left.kind)", text: "expect (\(left.text)) == \(right)")
    case 7: return Piece(kind: "expect values", text: "expect \(value()) \(pick(["==", "!="])) \(right)")
    case 8: return Piece(kind: "throws \(left.kind)", text: "expect \(left.text) throws")
    case 9: return Piece(kind: "let \(left.kind)", text: "let x = \(left.text)")
    case 10:
      let p = proxy()
      return Piece(
        kind: "add remove", text: "add \(pick(["o", "w", "new R"])) to \(p)\(modifiers()); remove o from \(p)")
    case 11: return Piece(kind: "add", text: "add \(pick(["new R", "o", "w"])) to \(proxy())\(modifiers())")
    case 12: return Piece(kind: "mute", text: "mute r0; unmute r0")
    case 13:
      return Piece(
        kind: "proxy",
        text:
          "proxy \(pick(["g", "t"])) = \(pick(["multicast", "multicast strong", "forward to \(proxy())", "lazy { \(proxy()) }", "recording \(proxy())"]))"
      )
    case 14: return Piece(kind: "services", text: pick(["clear services", "let x = service R; clear services"]))
    case 15: return Piece(kind: "wait", text: "wait")
    case 16:
      return Piece(kind: "priority", text: "let n = [n add: 1]; add new R to \(proxy()) priority n\(modifiers())")
    case 17: return Piece(kind: "register", text: "register \(pick(["o", "w", "p3"])) in X; unregister o from X")
    case 18:
      let row = number(0...1) == 0 ? "add new R to \(proxy()) as r; mute r" : "unmute r0; \(left.text); mute r0"
      return Piece(kind: "muted \(left.kind)", text: row)
    case 19: return Piece(kind: "if \(left.kind)", text: "if (\(left.text)) != \(right) { let y = \(right) }")
    default: return Piece(kind: "hook", text: "\(hook()) as h; cancel h")
    }
  }

  mutating func modifiers() -> String {
    var text = ""
    if number(0...3) == 0 { text += " on \(pick(["q0", "q1", "q2"]))" }
    if number(0...3) == 0 { text += " priority \(number(-2...2))" }
    if number(0...3) == 0 { text += " only \(pick(["names", "@[\"a\"]", "@[\"a\", \"take:\"]"]))" }
    return text
  }

  mutating func hook() -> String {
    let place = "\(number(0...3) == 0 ? pick(["f", "l"]) : proxy()) \"\(pick(["a", "give", "take:"]))\""
    switch number(0...6) {
    case 5: return "around \(place) { proceed with @[\(value())] }"
    case 6: return "before \(place) { let y = arg 0 }"
    case 0: return "before \(place) { }"
    case 1: return "after \(place) { let y = result }"
    case 2: return "around \(place) { proceed; proceed }"
    case 3: return "around \(place) { return proceed }"
    default: return "before \(place) { let y = \(expression().text) }"
    }
  }

  /// A statement before the loop.
  mutating func worldStatement() -> Piece {
    switch number(0...20) {
    case 16...17:
      let (kind, text, other) = texts()
      return Piece(kind: "text \(kind)", text: "let wide = \"\(text)\"; let other = \"\(other)\"; let ascii = wide")
    case 18:
      let (kind, text, _) = texts()
      let (key, count) = (text.prefix(size(20_000)), number(1...300))
      let keys = (0..<count).map { "\"\(key)\($0)\": \($0)" }.joined(separator: ", ")
      return Piece(kind: "keys \(kind)", text: "let keys = @{\(keys)}")
    case 19:
      let growth = pick([
        "let wide = [wide appending: wide]; let other = [other appending: other]", "let big = @[big, big]",
        "let big = [big adding: big]", "let names = @[names, names]", "let keys = @{\"a\": keys, \"b\": keys}",
        "let enc = [enc appending: enc]",
      ])
      return Piece(kind: "doubling", text: Array(repeating: growth, count: number(1...24)).joined(separator: "; "))
    case 20:
      let names = (0..<number(1...60)).map { "let m\($0) = [big adding: 1]" }.joined(separator: "; ")
      return Piece(kind: "kept", text: names)
    case 0...2:
      return Piece(kind: "many", text: "repeat \(size(5000)) { add new R to \(pick(["s0", "s1"]))\(modifiers()) }")
    case 3...4:
      return Piece(
        kind: "nest",
        text: "add \(pick(["p0", "p1", "p2", "p3", "p4", "f", "l", "k", "t"])) to \(proxy())\(modifiers())")
    case 5: return Piece(kind: "hooks", text: "repeat \(number(1...20)) { \(hook()) }")
    case 6: return Piece(kind: "add", text: "add \(pick(["o", "w"])) to \(proxy())\(modifiers())")
    case 7: return Piece(kind: "recorded", text: "repeat \(size(2000)) { [k take: \(value())] }")
    case 8:
      // What a block binds ends with it.
      let wraps = Array(repeating: pick(["let big = @[big, big]", "let big = @[big, 1]"]), count: number(1...16))
      return Piece(kind: "big", text: wraps.joined(separator: "; "))
    case 9:
      return Piece(
        kind: "wide",
        text:
          "let wide = \"\(String(repeating: pick(["e\u{301}", "é", "\u{1F469}\u{200D}\u{1F467}"]), count: size(20_000)))\""
      )
    case 11:
      return Piece(
        kind: "muted", text: "repeat \(size(5000)) { add new R to \(pick(["s0", "s1"]))\(modifiers()) as r; mute r }")
    case 12:
      let (name, depth) = ("D\(number(0...1_000_000))", size(64))
      let rows = (1...depth).map {
        "receiver \(name)x\($0) : \($0 == 1 ? "R" : "\(name)x\($0 - 1)") { - e\($0 % 7) = 1 }"
      }
      return Piece(
        kind: "inherit",
        text: rows.joined(separator: "; ") + "; repeat \(size(1000)) { add new \(name)x\(depth) to s0 }")
    case 13:
      return Piece(kind: "register", text: "register \(pick(["o", "w", "s0", "p1"])) in X; register lazily R in X")
    case 14:
      let element = pick(["1", "\"text\"", "2.5", "nil", "o", "p0", "@selector(a)", "@[]", "@{}", "@{\"a\": 1}"])
      let elements = Array(repeating: element, count: size(2000)).joined(separator: ", ")
      return Piece(kind: "list", text: "let big = @[\(elements)]; let table = @{\"a\": big}")
    case 10: return Piece(kind: "ascii", text: "let ascii = \"\(String(repeating: "x", count: size(200_000)))\"")
    default:
      let front = front()
      return Piece(
        kind: "front \(front)",
        text:
          "proxy \(front) = \(front == "f" ? "forward to \(proxy())" : front == "l" ? "lazy { \(proxy()) }" : "recording \(proxy())")"
      )
    }
  }

  mutating func candidate() -> Candidate {
    Candidate(
      world: (0..<number(0...8)).map { _ in worldStatement() }, loop: (0..<number(1...3)).map { _ in statement() })
  }

  /// `candidate` with a statement more, less or another.
  mutating func changed(_ candidate: Candidate) -> Candidate {
    var changed = candidate
    for _ in 0..<number(1...3) {
      let place = number(0...max(0, changed.world.count - 1))
      switch number(0...6) {
      case 0...1: changed.world.insert(worldStatement(), at: min(place, changed.world.count))
      case 2 where !changed.world.isEmpty: changed.world.remove(at: place)
      case 3 where !changed.world.isEmpty: changed.world[place] = worldStatement()
      case 4 where changed.loop.count > 1: changed.loop.remove(at: number(0...changed.loop.count - 1))
      case 5 where changed.loop.count < 6: changed.loop.append(statement())
      default: changed.loop[number(0...changed.loop.count - 1)] = statement()
      }
    }
    return changed
  }
}

/// What every script begins with.
private let cast = """
  receiver R { - a = 1; - take: x = nil; - fail throws "failed"; - give = big; - typed: n "q@:q" = n
    - pass = [p4 a]; - spin { repeat 20 { } }; - both: x and: y = x
  }
  receiver W { - a = 2; - take: x = x; - fail { throw ascii }; - pass = collect all [s0 a]; - typed: n "d@:f" = n }
  let ascii = "text"; let wide = "e\\u{301}"; let other = "é"; let keys = @{"a": 1}; let big = @[1, 2.5, "a", nil]; let deep = @[@[@[@[1]]]]
  let table = @{"a": 1, "b": big}; let enc = "v24@0:8q16"; let record = "{?=qdi{P=dd}[12s]}"; let sig = signature enc
  let names = @["a", "take:", "give"]
  \(Array(repeating: "let enc = [enc appending: \"q8q16\"]", count: 60).joined(separator: "; "))
  let o = new R; let w = new W; let n = 0; extension X { a take: fail give }
  queue q0; queue q1; queue q2
  proxy p0 = multicast; proxy p1 = multicast; proxy p2 = multicast duplicates; proxy p3 = multicast stopping
  proxy p4 = multicast throwing; proxy s0 = multicast strong; proxy s1 = multicast strong duplicates
  proxy t = multicast; proxy f = forward to p0; proxy l = lazy { p1 }; proxy k = recording o; proxy g = multicast
  add o to p0 as r0; add w to p4

  """
