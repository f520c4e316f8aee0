// main.swift: lines typed into the console of a running greenhouse call its live objects.
// Example: Console. Run it with `swift run console`.

import Forwardcast
import ForwardcastScript

let lamp = Lamp()
let fan = Fan()
let devices = MulticastProxy<any MessageReceiver>()
devices.add(lamp)
devices.add(fan)

let session = ScriptSession()
session.register(lamp, as: "lamp")
session.register(fan, as: "fan")
session.register(devices, as: "devices")

/// Runs a line as if it had been typed, and prints the outcome.
@MainActor
func enter(_ line: String) {
  print("> \(line)")
  let outcome = session.run(line, named: "console")
  if let error = outcome.error { print(error) } else if outcome.value != nil { print(outcome.value) }
}

// Call one object, or all through the program's own proxy.
enter("[lamp dimTo: 0.75]")
enter("[lamp brightness]")
enter("[fan level: 2]")
enter("collect all [devices watts]")
print("Swift sees \(try devices.collect(.watts, returning: .sum)) watts")

// A mistake is reported as an error and changes nothing.
enter("[lamp dimTo: \"much\"]")
enter("[fan paint: \"red\"]")

// An object of the script joins the program's proxy and receives its messages.
enter("receiver Guard { - alarm: what degrees: d { if d < 3 { print name \"heats:\" what d; [devices switchOff] } } }")
enter("let gus = new Guard; add gus to devices")
devices.broadcast(.alarm, "mild", 12)
devices.broadcast(.alarm, "frost", -1.5)
print("Swift sees brightness \(lamp.brightness), level \(fan.level)")

// Prints:
// > [lamp dimTo: 0.75]
// > [lamp brightness]
// 0.75
// > [fan level: 2]
// > collect all [devices watts]
// [60.0, 30.0]
// Swift sees 90.0 watts
// > [lamp dimTo: "much"]
// console:1:1: error: type mismatch in 'dimTo:' of Lamp: argument 0: wanted Double, found String ("much")
// [lamp dimTo: "much"]
// ^
// > [fan paint: "red"]
// console:1:1: error: unrecognized selector 'paint:' of Fan
// [fan paint: "red"]
// ^
// > receiver Guard { - alarm: what degrees: d { if d < 3 { print name "heats:" what d; [devices switchOff] } } }
// > let gus = new Guard; add gus to devices
// gus heats: frost -1.5
// Swift sees brightness 0.0, level 0
