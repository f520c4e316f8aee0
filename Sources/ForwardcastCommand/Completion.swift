// Completion.swift: shell completion, generated from the command's own tables.

import ForwardcastScript

struct Completion {
  let shell: String

  var text: String {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    default: fish
    }
  }

  private var words: [CommandWord] { CommandWord.all }
  private var general: [Option] { CommandWord.general.options }

  /// Words of the language that need no quotes in a shell.
  private var languageWords: [String] {
    var seen: Set<String> = []
    return ScriptLanguage.entries.map(\.word).filter { word in
      word.allSatisfy { $0.isLetter || $0 == ":" } && seen.insert(word).inserted
    }
  }

  private func options(_ word: CommandWord) -> [Option] { word.options + [general[0]] }

  private func value(of operands: CommandWord.Operands) -> Option.Value {
    switch operands {
    case .files: .file([])
    case .word: .choice(languageWords)
    case .none, .encoding: .number
    }
  }

  private var bash: String {
    let values = (words.flatMap(\.options) + general).compactMap { option in
      option.value.map { "    \(option.name)) \(reply($0)); return ;;" }
    }
    let cases = words.map { word in
      let (options, operands) = (reply(.choice(options(word).map(\.name))), reply(value(of: word.operands)))
      return "    *\\ \(word.name)) if [[ $current == -* ]]; then \(options); else \(operands); fi ;;"
    }
    return """
      # Completion of forwardcast for bash: source this, or put it where bash-completion looks.
      _forwardcast() {
        local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" IFS=$'\\n'
        COMPREPLY=()
        [[ $before == = ]] && before="${COMP_WORDS[COMP_CWORD-2]}"
        [[ $current == = ]] && before="${COMP_WORDS[COMP_CWORD-1]}" current=
        case "$before" in
      \(values.joined(separator: "\n"))
        esac
        case "$COMP_CWORD ${COMP_WORDS[1]}" in
          1\\ *) \(reply(.choice((words.map(\.name) + general.map(\.name))))) ;;
      \(cases.joined(separator: "\n"))
        esac
      }
      complete -o filenames -F _forwardcast forwardcast

      """
  }

  /// The shell statement that completes a value. `compgen -W` splits words at `IFS`.
  private func reply(_ value: Option.Value) -> String {
    switch value {
    case .file: "COMPREPLY=($(compgen -f -- \"$current\"))"
    case .number: ":"
    case .choice(let words): "COMPREPLY=($(compgen -W \"\(words.joined(separator: "\n"))\" -- \"$current\"))"
    }
  }

  private var zsh: String {
    let cases = words.map { word in
      let operands =
        switch value(of: word.operands) {
        case .file: " '*\(zshValue(.file([])))'"
        case .number: ""
        case .choice(let words): " '1\(zshValue(.choice(words.map { $0.replacing(":", with: "\\:") })))'"
        }
      return "    \(word.name)) _arguments \(options(word).map(zshOption).joined(separator: " "))\(operands) ;;"
    }
    return """
      #compdef forwardcast
      # Completion of forwardcast for zsh: put this as _forwardcast into a folder of $fpath.
      _forwardcast() {
        local -a words_of_forwardcast
        words_of_forwardcast=(\(words.map { "'\($0.name):\(quoted($0.summary))'" }.joined(separator: " ")))
        if (( CURRENT == 2 )); then
          _describe 'word' words_of_forwardcast
          _arguments \(general.map(zshOption).joined(separator: " "))
          return
        fi
        local word="${words[2]}"
        shift words
        (( CURRENT-- ))
        case "$word" in
      \(cases.joined(separator: "\n"))
        esac
      }
      _forwardcast "$@"

      """
  }

  private func zshOption(_ option: Option) -> String {
    let meaning = quoted(option.meaning).replacing("[", with: "\\[").replacing("]", with: "\\]")
    return "'\(option.name)" + (option.value.map { "=[\(meaning)]\(zshValue($0))'" } ?? "[\(meaning)]'")
  }

  private func zshValue(_ value: Option.Value) -> String {
    switch value {
    case .file([]): ":file:_files"
    case .file(let endings): ":file:_files -g \"\(endings.map { "*\($0)" }.joined(separator: " "))\""
    case .number: ":number:"
    case .choice(let words): ":word:(\(words.joined(separator: " ")))"
    }
  }

  private var fish: String {
    let isFirst = "-n __fish_use_subcommand"
    var rows = ["-f"] + words.map { "\(isFirst) -a \($0.name) -d '\(quoted($0.summary))'" }
    rows += general.map { "\(isFirst) \(fishOption($0))" }
    for word in words {
      let isThis = "-n '__fish_seen_subcommand_from \(word.name)'"
      rows += options(word).map { "\(isThis) \(fishOption($0))" }
      switch word.operands {
      case .files: rows.append("\(isThis) -F")
      case .word: rows.append("\(isThis) -a '\(languageWords.joined(separator: " "))'")
      default: break
      }
    }
    return "# Completion of forwardcast for fish: put this as forwardcast.fish into a folder of $fish_complete_path.\n"
      + rows.map { "complete -c forwardcast \($0)\n" }.joined()
  }

  private func fishOption(_ option: Option) -> String {
    let value =
      switch option.value {
      case nil: ""
      case .file: " -r -F"
      case .number: " -x"
      case .choice(let choices): " -x -a '\(choices.joined(separator: " "))'"
      }
    return "-l \(option.name.dropFirst(2))\(value) -d '\(quoted(option.meaning))'"
  }

  /// Removes single quotes, so that the text can be quoted with them.
  private func quoted(_ text: String) -> String { text.replacing("'", with: "") }
}
