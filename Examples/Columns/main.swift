// main.swift: a class that creates the methods of table columns on first use.
// Example: Columns. Run it with `swift run columns`.

import Forwardcast

/// A row of a table whose columns are known only at run time, each with a getter and a setter.
final class Row: MessageReceiver {
  static let columns = ["name", "city"]

  /// Empty at first. For a selector that the table lacks, `resolveMethod` is called once.
  static let selectorTable = SelectorTable(for: Row.self) {}

  static func resolveMethod(for selector: MessageSelector) -> Bool {
    for column in columns {
      switch selector.name {
      case column: return add(Responds(to: selector) { (row: Row) in row.values[column] ?? "-" })
      case "set\(column.prefix(1).uppercased())\(column.dropFirst()):":
        return add(Responds(to: selector) { (row: Row, value: String) in row.values[column] = value })
      default: continue
      }
    }
    return false
  }

  private static func add(_ row: Responds<Row>) -> Bool {
    print("  made \(row.selector)")
    do { try selectorTable.add(row) } catch { return false }
    return true
  }

  private var values: [String: String]
  init(_ values: [String: String]) { self.values = values }
}

let (ann, bo) = (Row(["name": "ann", "city": "Oslo"]), Row(["name": "bo"]))
let name = Message<() -> String>("name")
print("methods: \(Row.selectorTable.selectors)")
print(try ann.send(name), try bo.send(name))

// A proxy resolves methods too: its first message creates the missing ones.
let rows = MulticastProxy<any MessageReceiver>()
rows.add(ann)
rows.add(bo)
try bo.send(Message<(String) -> Void>("setCity:"), "Bergen")
print(try rows.collect(Message<() -> String>("city"), returning: .all))
do { _ = try ann.send(Message<() -> Int>("visits")) } catch { print(error) }
print("methods: \(Row.selectorTable.selectors)")

// Prints:
// methods: []
//   made name
// ann bo
//   made setCity:
//   made city
// ["Oslo", "Bergen"]
// unrecognized selector 'visits' of Row
// methods: [city, name, setCity:]
