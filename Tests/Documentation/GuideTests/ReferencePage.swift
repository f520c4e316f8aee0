// ReferencePage.swift: the generated page with every word of the script language.

import Foundation
import ForwardcastScript

/// The text of `LanguageReference.md`.
enum ReferencePage {
  static var text: String {
    let sections = ScriptLanguage.Kind.allCases.map { kind in
      let rows = ScriptLanguage.entries.filter { $0.kind == kind }
        .map { entry in
          kind == .limit
            ? "| `\(entry.word)` | \(number(entry.form)) | \(cell(entry.meaning)) |"
            : "| \(forms(entry.form)) | \(cell(entry.meaning)) |"
        }
      return """
        ## \(title(kind))

        \(kind == .limit ? "| limit | number | meaning |\n|---|---|---|" : "| form | meaning |\n|---|---|")
        \(rows.joined(separator: "\n"))
        """
    }
    return """
      # Script Reference

      Every word of the message script, with its form and meaning.

      ## Overview

      `forwardcast help WORD` prints one entry; ``ScriptLanguage`` has all as values. In the forms, `e`
      is an expression, `p` a proxy, `q` a queue, `r` a registration, `h` a hook, `E` an extension
      point, `s` a signature, `x` a name, `n` a number and `op` a comparison. Brackets enclose an
      optional part or, as in `[p …]`, a message; `|` separates alternatives.

      ## Literals and Comparisons

      | text | meaning |
      |---|---|
      | `12`, `-3`, `0x1F`, `0.5`, `1e3` | a number |
      | `"text"` | a text on one line, with `\\n`, `\\t`, `\\"`, `\\\\`, `\\u{e9}` |
      | `@[1, 2]`, `@{"k": 1}` | a list, a dictionary |
      | `@selector(at:)` | a selector |
      | `[x add: 1]` | a message; its answer is the value |
      | `(e)` | the value of `e` |
      | `==`, `!=`, `<`, `<=`, `>`, `>=` | comparisons, after `if` and `expect` only |
      | `name`, `self` | in a row (method): the name of the row's object, and the object itself |
      | `# …` | a comment, to the end of the line |
      | `;` | ends a statement, like the end of a line |

      \(sections.joined(separator: "\n\n"))

      """
  }

  private static func title(_ kind: ScriptLanguage.Kind) -> String {
    kind.rawValue.split(separator: " ").map { $0 == "to" ? "to" : $0.capitalized }.joined(separator: " ")
  }

  private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }

  /// A form as code. An unescaped bar would end the table cell.
  private static func forms(_ form: String) -> String { "`\(form.replacing("|", with: "\\|"))`" }

  /// Digits in groups of three.
  private static func number(_ digits: String) -> String {
    var grouped = ""
    for (index, digit) in digits.reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { grouped.append(",") }
      grouped.append(digit)
    }
    return String(grouped.reversed())
  }
}
