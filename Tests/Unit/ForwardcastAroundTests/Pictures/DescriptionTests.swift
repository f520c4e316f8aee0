// DescriptionTests.swift: the description of a proxy.

import Dispatch
import Forwardcast
import TestSupport
import Testing

@Forwarded private protocol Function<Input, Output>: AnyObject {
  associatedtype Input
  associatedtype Output
  func invoke(_ input: Input) throws -> Output
}

@Forwarded @MainActor private protocol MainView: AnyObject { func show() }

@Forwarded private protocol Debuggable: AnyObject, CustomDebugStringConvertible { func act() }

@Suite("Descriptions of proxies")
struct DescriptionTests {
  let journal = Journal()

  @Test("a proxy describes itself as a table of its targets")
  func table() throws {
    let proxy = SharedDesks()
    proxy.onError = { _ in }
    expect("\(proxy)", equals: "multicast of Desk, 0 targets")
    let (ann, bo) = (Desk("ann", journal), Desk("bo", journal))
    proxy.add(ann, priority: 5, only: ["say:"])
    let queue = DispatchQueue(label: "disk")
    queue.suspend()
    proxy.add(bo, delivery: .queue(queue), buffer: .keepOldest(2))
    proxy.mute(ann)
    for _ in 0..<5 { proxy.broadcast(.worth) }
    try proxy.before(.say) { _ in throw Refusal(name: "guard") }
    proxy.broadcast(.say, "x")
    let lines = "\(proxy)".split(separator: "\n").map(String.init)
    expect(lines[0], equals: "multicast of Desk, 2 targets")
    expect(lines[1].split(separator: " "), equals: ["target", "selectors", "context", "waiting", "dropped"])
    expect(lines[2].hasPrefix("Desk (priority 5) (muted)  only say:") && lines[2].hasSuffix("-"))
    expect(lines[3].contains("5: agrees join:with: quote: …") && lines[3].contains("disk"))
    expect(lines[3].split(separator: " ").suffix(2), equals: ["2", "3"])
    expect(lines[4], equals: "hooks 1")
    expect(lines[5], equals: "last error: 'say:' failed in MulticastProxy<Desk>: refused by guard")
    queue.resume()
    withExtendedLifetime((ann, bo)) {}
  }

  @Test("closures, proxies and forwarding objects are listed with the selectors that they receive")
  func others() {
    let proxy = Desks()
    proxy.on(.say) { _ in }
    proxy.add(Desks(), ownership: .strong)
    proxy.add(ForwardingProxy(to: Desk("ann", journal)), ownership: .strong)
    let text = "\(proxy)"
    expect(text.contains("say:") && text.contains("those of its targets") && text.contains("what it forwards"))
  }

  @MainActor
  @Test("a generated proxy prints its name as it is written")
  func names() {
    expect("\(FunctionProxy<Int, [String]>())", equals: "FunctionProxy<Int, Array<String>>")
    expect("\(MainViewProxy())", equals: "MainViewProxy")
    expect("\(DebuggableProxy())", equals: "DebuggableProxy")
    expect(String(reflecting: [MainViewProxy()]), equals: "[MainViewProxy]")
  }

  @Test("errors and explanations name a specialized protocol as it is written")
  func specializedNames() throws {
    let functions = FunctionProxy<Int, Int>(options: MulticastOptions(noResponder: .throw))
    let name = "MulticastProxy<any Function<Int, Int>>"
    let error = #expect(throws: MessageError.self) { try functions.invoke(1) }
    expect(error?.description, equals: "nobody responds to 'invoke:' of \(name)")
    let seen = Locked<[String]>([])
    functions.onError = { failure in seen.withLock { $0.append(failure.receiver) } }
    functions.broadcast(FunctionProxy<Int, Int>.Messages.invoke, 1)
    expect(seen.withLock { $0 }, equals: [name])
    expect(functions.explain("invoke:").proxy, equals: name)
    expect(functions.multicast.description.hasPrefix("multicast of any Function<Int, Int>, 0 targets\n"))
    let nested = FunctionProxy<Int, any Function<String, [Int]>>().explain("invoke:").proxy
    expect(nested, equals: "MulticastProxy<any Function<Int, any Function<String, Array<Int>>>>")
  }
}
