// LaterVersions.swift: words that are read, and that this version does not run.
// Layer: Script, Interpreter. See DESIGN.md, "The script".

import Forwardcast

// Each function stands for one family of words and is called where the family belongs. To switch a family on, give
// its function a body and move it beside its kin.

extension Interpreter {
  private func later(_ words: String) -> ScriptFault { ScriptFault(.notInThisVersion, words) }

  /// `proxy p = recording e`.
  func makeRecording(_ name: String, _ target: Expression) throws -> ScriptReference { throw later("recording") }

  /// `calls p`.
  func calls(of value: ScriptValue) throws -> ScriptValue { throw later("calls") }
}
