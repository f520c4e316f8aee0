// main.swift: one connection with listeners on the main actor and on a queue.
// Example: Bluetooth. Run it with `swift run bluetooth`.

import Forwardcast

let strap = Connection()
let listeners = strap.listeners

/// Passes packets to the connection, each after all listeners have received the one before.
func radio(_ packets: [UInt8]...) async {
  for packet in packets { await strap.receive(packet) }
}

let (home, icon, log) = (Screen("home"), StatusIcon(), Log())
listeners.add(home)
icon.listen(to: listeners)
log.listen(to: listeners)

print("the strap is put on")
await radio([], [0, 61], [0, 64])

// A new screen receives messages from now on, until the screen is released.
print("a run begins")
var run: Screen? = Screen("run")
if let run { listeners.add(run, priority: 1) }
await radio([0, 128])
run = nil

print("out of reach")
await radio([], [0, 90])
print("\(listeners.count(for: Messages.linkChanged.selector)) listen; the log says\n  \(log.text)")

// Prints:
// the strap is put on
//   icon: ( )
//   home: - -> searching
//   icon: (*)
//   home: searching -> connected
//   home: connected -> 61 bpm
//   home: 61 bpm -> 64 bpm
// a run begins
//   run: - -> 128 bpm
//   home: 64 bpm -> 128 bpm
// out of reach
//   icon: ( )
//   home: 128 bpm -> lost
//   icon: (*)
//   home: lost -> connected
//   home: connected -> 90 bpm
// 3 listen; the log says
//   1. link searching
//   2. link connected
//   3. heart rate 61
//   4. heart rate 64
//   5. heart rate 128
//   6. link lost
//   7. link connected
//   8. heart rate 90
