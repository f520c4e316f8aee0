// LaterVersions.swift: words that are read, and that this version does not run.
// Layer: Script, Interpreter. See DESIGN.md, "The script".

import Forwardcast

// Each function stands for one family of words and is called where the family belongs. To switch a family on, give
// its function a body and move it beside its kin.

extension Interpreter {
  private func later(_ words: String) -> ScriptFault { ScriptFault(.notInThisVersion, words) }

  // MARK: Around a message

  /// `before`, `after` and `around`.
  func install(_ hook: HookDefinition) throws { throw later(hook.moment.rawValue) }

  /// `arg n` in a hook.
  func hookArgument(_ index: ScriptValue) throws -> ScriptValue { throw later("arg") }

  /// `proceed` and `proceed with @[…]` in `around`.
  func proceed(with arguments: ScriptValue?) throws -> ScriptValue { throw later("proceed") }
}
