// Scripting.swift: the code of the catalog of ForwardcastScript.

// snippet: scripting-lamp
import Forwardcast
import ForwardcastScript
// end
import TestSupport
import Testing

// snippet: scripting-lamp
@Receiver
final class Lamp {
  var brightness = 0.25
  @Message func dim(to brightness: Double) { self.brightness = brightness }
  @Message func watts() -> Double { 80 * brightness }
}
// end

@Suite("Scripting Live Objects")
struct Scripting {
  @Test("a script calls live objects, and a malformed argument changes nothing")
  func console() throws {
    // snippet: scripting-session
    let lamp = Lamp()
    let session = ScriptSession()
    session.register(lamp, as: "lamp")

    session.run("[lamp dimTo: 0.75]")
    let watts = session.run("[lamp watts]").value  // 60.0
    let mistake = session.run("[lamp dimTo: \"much\"]").error
    print(mistake?.text ?? "")  // type mismatch in 'dimTo:' of Lamp: argument 0: …
    // end
    expect(lamp.brightness, equals: 0.75)
    expect("\(watts)", equals: "60.0")
    expect(
      mistake?.text, equals: "type mismatch in 'dimTo:' of Lamp: argument 0: wanted Double, found String (\"much\")")
  }

  @Test("a script stops at its step limit and passes printed text to its handler")
  func bounds() {
    // snippet: scripting-handlers
    let handlers = ScriptHandlers(
      output: { _ in },  // receives printed text
      diagnostics: { error in print(error) })
    let bounded = ScriptSession(stepLimit: 10_000, handlers: handlers)
    let outcome = bounded.run("repeat 1000000 { print \"again\" }")
    print(outcome.succeeded)  // false: limit exceeded
    // end
    #expect(!outcome.succeeded && outcome.error?.text.hasPrefix("limit exceeded") == true)
  }
}
