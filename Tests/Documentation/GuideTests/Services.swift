// Services.swift: the code of "Services and Extension Points", also on the main actor by default.

// snippet: services-service
import Forwardcast
import ForwardcastCenters
import Synchronization
// end
import TestSupport
import Testing

// snippet: services-service
final class NetworkService: ManagedService {
  init(in center: ServiceCenter) {}
  var isPersistent: Bool { true }
}

final class AccountService: ManagedService {
  let network: NetworkService
  private let user = Mutex<String?>(nil)

  init(in center: ServiceCenter) throws { network = try center.service() }
  var name: String { user.withLock { $0 ?? "nobody" } }
  func logIn(_ name: String) { user.withLock { $0 = name } }
}
// end

// snippet: services-scope
final class DraftService: ManagedService {
  static var scope: ServiceScope { .session }
  init(in center: ServiceCenter) {}
}
// end

// snippet: services-extension
protocol MailExtension: MessageReceiver, Sendable {}
extension Message<(String) -> Void> {
  static var didReceive: Self { .init("didReceive:") }
}

@Receiver
nonisolated final class Archive: ManagedService, MailExtension {
  let heard = Mutex<[String]>([])
  init(in center: ServiceCenter) {}
  @Message func didReceive(_ mail: String) {
    heard.withLock { $0.append(mail) }
  }
}
// end

// snippet: services-typed
@Forwarded
nonisolated protocol CallObserver: AnyObject, Sendable {
  func callEnded(after seconds: Int)
}

nonisolated final class Bill: ManagedService, CallObserver {
  init(in center: ServiceCenter) {}
  func callEnded(after seconds: Int) { print("billed", seconds) }
}
// end

@Suite("Services and Extension Points")
struct Services {
  @Test("a service is created on the first request and removed at logout unless it is persistent")
  func services() throws {
    // snippet: services-use
    let center = ServiceCenter()  // or ServiceCenter.shared
    try center.service(AccountService.self).logIn("ann")  // created now
    center.clearData()  // log-out: removes the account, keeps the network
    // end
    #expect(center.existing(AccountService.self) == nil)
    #expect(center.existing(NetworkService.self) != nil)
    // snippet: services-scope
    let session = ServiceCenter(.session, in: center)
    let drafts = try session.service(DraftService.self)  // ends with the session
    // end
    #expect(session.existing(DraftService.self) === drafts)
    // snippet: services-key
    let key = ServiceKey("clock", scope: ServiceScope("window")) { _ in
      ContinuousClock() as any Clock<Duration>
    }
    let window = ServiceCenter(ServiceScope("window"), in: center)
    let clock = try window.service(key)
    // end
    #expect(clock is ContinuousClock)
    #expect(throws: ServiceError.self) { try center.service(DraftService.self) }
    // snippet: services-substitute
    let substitute = ServiceSubstitute(for: NetworkService.self) { center in
      NetworkService(in: center)
    }
    try center.withSubstitutes(substitute) {
      let account = try center.service(AccountService.self)  // uses the substitute
      print(account.name)
    }
    // end
    #expect(center.existing(AccountService.self) == nil)
  }

  @Test("the first message creates a lazy observer")
  func extensions() throws {
    let center = ServiceCenter()
    // snippet: services-observe
    let extensions = try center.service(ExtensionCenter.self)
    extensions.registerLazily(Archive.self, for: (any MailExtension).self) { $0 }
    // Creates the archive, which receives the message:
    extensions.notify((any MailExtension).self, .didReceive, "hello")
    // end
    let archive = try #require(center.existing(Archive.self))
    expect(archive.heard.withLock { $0 }, equals: ["hello"])
    // snippet: services-typed
    let isNew = extensions.declare(
      (any CallObserver).self, table: CallObserverProxy.table)
    let calls = extensions.point((any CallObserver).self)
    calls.registerLazily(Bill.self) { $0 }
    print(calls.explain("callEndedAfter:"))  // lists Bill; creates nothing
    calls.broadcast(CallObserverProxy.Messages.callEnded, 60)
    // end
    #expect(isNew && center.existing(Bill.self) != nil)
  }
}
