// main.swift: protocols with a conforming class beside the generated one, in a client package.
// The optimizer may assume that the only class it knows for a protocol is every object's class. Each
// printed line names the origin of a conformance, and what its targets received.

import Forwardcast

/// A caller that sees only the protocol.
@inline(never) func call<P>(_ object: P, _ body: (P) -> Void) { body(object) }

// A parent without the attribute, whose requirements are repeated, and that parent's parent.
protocol ViewDelegate: AnyObject { func loaded() }
protocol CellDelegate: ViewDelegate { func tapped(_ row: Int) }
@Forwarded protocol VideoCellDelegate: CellDelegate {
  func loaded()
  func tapped(_ row: Int)
  func play(_ film: String)
}
final class Screen: VideoCellDelegate {
  func loaded() { print("grandparent") }
  func tapped(_ row: Int) { print("parent", row) }
  func play(_ film: String) { print("own", film) }
}
let (cells, screen) = (VideoCellDelegateProxy(), Screen())
cells.add(screen)
call(cells as any ViewDelegate) { $0.loaded() }
call(cells as any CellDelegate) { $0.tapped(1) }
call(cells as any VideoCellDelegate) { $0.play("Metropolis") }

// A requirement and a conformance in an extension of the generated class.
protocol Titled: AnyObject { var title: String { get } }
protocol Counting { func count() -> Int }
@Forwarded protocol PageDelegate: Titled { func turned(to page: Int) }
extension PageDelegateProxy: Counting {
  var title: String { "all pages" }
  func count() -> Int { 2 }
}
final class Page: PageDelegate {
  let title = "one page"
  func turned(to page: Int) { print("page", page) }
}
struct One: Counting { func count() -> Int { 1 } }
let (pages, page) = (PageDelegateProxy(), Page())
pages.add(page)
call(pages as any Titled) { print($0.title) }
call(pages as any PageDelegate) { $0.turned(to: 3) }
call(pages as any Counting) { print("count", $0.count()) }
call(One() as any Counting) { print("count", $0.count()) }

// A protocol that is copied.
protocol StreamDelegate: AnyObject { func received(_ byte: Int) }
@Forwarded(as: (any StreamDelegate).self) protocol StreamCopy: AnyObject { func received(_ byte: Int) }
final class Stream: StreamDelegate { func received(_ byte: Int) { print("byte", byte) } }
let (streams, stream) = (StreamCopyProxy(), Stream())
streams.add(stream)
call(streams as any StreamDelegate) { $0.received(4) }

// A superclass with a conformance of its own.
protocol Rooted { func root() -> String }
class Root: Rooted { func root() -> String { "root of \(type(of: self))" } }
@Forwarded(base: Root.self) protocol Branch: AnyObject { func grow() }
final class Leaf: Branch { func grow() { print("grown") } }
let (branches, leaf) = (BranchProxy(), Leaf())
branches.add(leaf)
call(branches as any Branch) { $0.grow() }
call(branches as any Rooted) { print($0.root()) }

// A parent that is a class, and a protocol that refines it.
class Sheet: Rooted { func root() -> String { "sheet of \(type(of: self))" } }
@Forwarded protocol SheetDelegate: Sheet { func folded() }
@Forwarded(inheriting: (any SheetDelegate).self) protocol MapDelegate: SheetDelegate { func unfolded() }
final class Map: Sheet, MapDelegate {
  func folded() { print("folded") }
  func unfolded() { print("unfolded") }
}
let (maps, map) = (MapDelegateProxy(), Map())
maps.add(map)
call(maps as any Rooted) { print($0.root()) }
call(maps as any SheetDelegate) { $0.folded() }
call(maps as any MapDelegate) { $0.unfolded() }

// Sendable parents, refinement, actors, generic, private and nested ones, no other class.
protocol Shared: Sendable { func shared() }
@Forwarded protocol Radio: AnyObject, Shared { func shared(); func heard(_ text: String) }
final class Listener: Radio {
  func shared() { print("shared") }
  func heard(_ text: String) { print("heard", text) }
}
let (radio, listener) = (RadioProxy(), Listener())
radio.add(listener)
call(radio as any Shared) { $0.shared() }
call(radio as any Radio) { $0.heard("noise") }

@Forwarded protocol First: AnyObject { func first() }
@Forwarded(inheriting: (any First).self) protocol Second: First { func second() }
final class Both: Second {
  func first() { print("first") }
  func second() { print("second") }
}
let (both, target) = (SecondProxy(), Both())
both.add(target)
call(both as any First) { $0.first() }
call(both as any Second) { $0.second() }

@MainActor @Forwarded protocol Window: AnyObject { func moved(to place: Int) }
@MainActor final class Pane: Window { func moved(to place: Int) { print("place", place) } }
let (windows, pane) = (WindowProxy(), Pane())
windows.add(pane)
@inline(never) @MainActor func move(_ window: any Window) { window.moved(to: 5) }
move(windows)

@Forwarded protocol Feed<Item>: AnyObject {
  associatedtype Item: Hashable, Comparable
  func received(_ item: Item)
}
final class Reader: Feed { func received(_ item: Int) { print("item", item) } }
let (feed, reader) = (FeedProxy<Int>(), Reader())
feed.add(reader)
call(feed as any Feed<Int>) { $0.received(6) }

@Forwarded(inheriting: (any Feed).self) protocol NumberFeed: Feed where Item == Int { func ended() }
final class NumberReader: NumberFeed {
  func received(_ item: Int) { print("number", item) }
  func ended() { print("ended") }
}
let (numbers, numberReader) = (NumberFeedProxy(), NumberReader())
numbers.add(numberReader)
call(numbers as any Feed<Int>) { $0.received(6) }
call(numbers as any NumberFeed) { $0.ended() }

enum Chat {
  struct Message: Hashable { var text = "hello" }
  @Forwarded fileprivate protocol Room: AnyObject {
    func said(_ message: Message)
    @Answer(.last, otherwise: Message(text: "none")) func last() -> Message
  }
}
private final class Guest: Chat.Room {
  func said(_ message: Chat.Message) { print(message.text) }
  func last() -> Chat.Message { Chat.Message(text: "last") }
}
private let (rooms, guest) = (Chat.RoomProxy(), Guest())
call(rooms as any Chat.Room) { print($0.last().text) }
rooms.add(guest)
call(rooms as any Chat.Room) {
  $0.said(Chat.Message()); print($0.last().text)
}

@Forwarded private protocol Lonely: AnyObject { func alone(_ number: Int) }
private let lonely = LonelyProxy()
lonely.on(LonelyProxy.Messages.alone) { print("alone", $0) }
call(lonely as any Lonely) { $0.alone(7) }

withExtendedLifetime((screen, page, stream, leaf, map, listener, target, pane, reader, numberReader, guest)) {}

// Prints:
// grandparent
// parent 1
// own Metropolis
// all pages
// page 3
// count 2
// count 1
// byte 4
// grown
// root of BranchProxy
// sheet of MapDelegateProxy
// folded
// unfolded
// shared
// heard noise
// first
// second
// place 5
// item 6
// number 6
// ended
// none
// hello
// last
// alone 7
