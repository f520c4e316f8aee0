// Scripts.swift: texts of the script, checked and run.

import ForwardcastScript

func script(_ text: String) {
  _ = ScriptSession.isIncomplete(text)
  if let error = ScriptSession.check(text) {
    _ = "\(error)"
    return
  }
  let session = ScriptSession(stepLimit: 500, handlers: ScriptHandlers(output: { _ in }))
  _ = session.run(text)
}
