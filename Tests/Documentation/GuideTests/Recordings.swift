// Recordings.swift: the code of the first page of ForwardcastRecording.

// snippet: recording-use
import Forwardcast
import ForwardcastRecording
// end
import Testing

// snippet: recording-use
@Receiver
final class Till {
  private var sum = 0
  @Message func add(_ cents: Int) -> Int {
    sum += cents
    return sum
  }
}
// end

@Suite("Recordings")
struct Recordings {
  @Test("a recording can be replayed and drawn as a diagram")
  func use() throws {
    // snippet: recording-use
    let till = RecordingProxy(of: Till(), as: "till")  // represents the till
    let sum: Int = try till.dynamic.add(450)
    let day = till.recorder.recording
    print(day)  // [till add: 450] answers 450

    let again = try day.replay(into: ["till": Till()])  // by that name
    print(again.isEqual(to: day) ?? false)  // true: same outcomes
    // end
    #expect(sum == 450 && "\(day)" == "[till add: 450] answers 450")
    #expect(again.isEqual(to: day) == true)
    // snippet: recording-pictures
    let (diagram, file) = (SequenceDiagram(), TraceFile { print($0) })
    let tills = MulticastProxy<any MessageReceiver>()
    tills.add(till)
    let tracing = tills.trace(as: "tills") { event in
      diagram.add(event)
      file.add(event)
    }
    tills.dynamic.add(50)
    tracing.cancel()
    file.finish()  // completes the file
    print(diagram.mermaid)
    // end
    #expect(diagram.mermaid.contains("add: 50") && file.omitted == 0)
  }
}
