// ScriptFault+Errors.swift: errors of the library and of hosts in the words of the script.
// Layer: Script, Interpreter. See the article "How the script works".

import Forwardcast

extension ScriptFault {
  /// What `error` is called in a script. The text of an error that the library does not know is its own.
  init(_ error: any Error) {
    switch error {
    case let fault as ScriptFault: self = fault
    case let error as ScriptError: self.init(error.code, whole: error.text, about: error.subject)
    case let error as MessageError:
      let isUnknown = error.code == .unrecognizedSelector
      self.init(
        ScriptFault.code(error.code), whole: "\(error)", about: isUnknown ? .selector(error.selector) : nil)
    case let error as TypeEncodingError: self.init(.invalidTypeEncoding, "\(error)")
    case let error as MessageSelectorError: self.init(.invalidSelector, whole: "\(error)")
    case let error as UnboxingError: self.init(.typeMismatch, "\(error)")
    case let error as InvocationError: self.init(.wrongNumberOfArguments, whole: "\(error)")
    default: self.init(.thrown, whole: "\(error)")
    }
  }

  private static func code(_ code: MessageError.Code) -> ScriptError.Code {
    switch code {
    case .unrecognizedSelector: .unrecognizedSelector
    case .typeMismatch: .typeMismatch
    case .wrongArgumentCount: .wrongNumberOfArguments
    case .invalidTypeEncoding: .invalidTypeEncoding
    case .nobodyResponds: .nobodyResponds
    case .proxyCycle: .proxyCycle
    case .wouldDeadlock: .wouldDeadlock
    default: .thrown
    }
  }
}
