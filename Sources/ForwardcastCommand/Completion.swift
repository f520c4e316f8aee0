// Completion.swift: shell completion, generated from the command's own tables.

import ForwardcastScript

/// `forwardcast --generate-completion SHELL`.
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

  // MARK: Shells

  private var bash: String {
    """
    # Completion of forwardcast for bash: source this, or put it where bash-completion looks.
    _forwardcast() {
      local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" IFS=$'\\n'
      COMPREPLY=()
      [[ $before == = ]] && before="${COMP_WORDS[COMP_CWORD-2]}"
      [[ $current == = ]] && before="${COMP_WORDS[COMP_CWORD-1]}" current=
      case "$before" in
    \(valueCases)
      esac
      case "$COMP_CWORD ${COMP_WORDS[1]}" in
        1\\ *) COMPREPLY=($(compgen -W "\(lines(words.map(\.name) + general.map(\.name)))" -- "$current")) ;;
    \(words.map(bashCase).joined(separator: "\n"))
      esac
    }
    complete -o filenames -F _forwardcast forwardcast

    """
  }

  private var valueCases: String {
    (words.flatMap(\.options) + general).compactMap { option in
      switch option.value {
      case nil: nil
      case .file: "    \(option.name)) COMPREPLY=($(compgen -f -- \"$current\")); return ;;"
      case .number: "    \(option.name)) return ;;"
      case .choice(let choices):
        "    \(option.name)) COMPREPLY=($(compgen -W \"\(lines(choices))\" -- \"$current\")); return ;;"
      }
    }.joined(separator: "\n")
  }

  private func bashCase(_ word: CommandWord) -> String {
    let options = "COMPREPLY=($(compgen -W \"\(lines(self.options(word).map(\.name)))\" -- \"$current\"))"
    let operands =
      switch word.operands {
      case .files: "COMPREPLY=($(compgen -f -- \"$current\"))"
      case .word: "COMPREPLY=($(compgen -W \"\(lines(languageWords))\" -- \"$current\"))"
      default: ":"
      }
    return "    *\\ \(word.name)) if [[ $current == -* ]]; then \(options); else \(operands); fi ;;"
  }

  /// Words for `compgen -W`, which splits at `IFS`.
  private func lines(_ words: [String]) -> String { words.joined(separator: "\n") }

  private var zsh: String {
    let cases = words.map { word in
      let operands =
        switch word.operands {
        case .files: " '*:file:_files'"
        case .word: " '1:word:(\(languageWords.map(zshWord).joined(separator: " ")))'"
        default: ""
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
    return switch option.value {
    case nil: "'\(option.name)[\(meaning)]'"
    case .file(let endings):
      "'\(option.name)=[\(meaning)]:file:_files -g \"\(endings.map { "*\($0)" }.joined(separator: " "))\"'"
    case .number: "'\(option.name)=[\(meaning)]:number:'"
    case .choice(let choices): "'\(option.name)=[\(meaning)]:word:(\(choices.joined(separator: " ")))'"
    }
  }

  private func zshWord(_ word: String) -> String { word.replacing(":", with: "\\:") }

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

  /// Text for single quotes, without such.
  private func quoted(_ text: String) -> String { text.replacing("'", with: "") }
}
