// Arguments.swift: the arguments of one message as a pack.

/// The arguments of one message. This is a struct, because a struct is passed by address, while a
/// pack is copied element by element.
@frozen @usableFromInline
struct Arguments<each A> {
  @usableFromInline let values: (repeat each A)

  @export(implementation) @inline(__always)
  init(values: (repeat each A)) { self.values = values }

  /// Unboxes `boxes`. Throws `wrongArgumentCount`, or `typeMismatch` with the argument's index.
  init(unboxing boxes: [ArgumentBox], of selector: MessageSelector, for receiver: @autoclosure () -> String)
    throws(MessageError)
  {
    let wanted = packCount(repeat (each A).self)
    guard boxes.count == wanted else {
      throw .argumentCount(selector, receiver: receiver(), wanted: wanted, found: boxes.count)
    }
    var index = 0
    func next<T>(_ type: T.Type) throws(MessageError) -> T {
      defer { index += 1 }
      do { return try boxes[index].unbox(as: type) } catch {
        throw .argument(index, selector, receiver: receiver(), error)
      }
    }
    self.init(values: (repeat try next((each A).self)))
  }
}

extension Arguments {
  /// Calls `body` with two functions that call a method. `ask` also returns the result in a box.
  @export(implementation) @inline(__always)
  func withCalls<R>(returning: R.Type, _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void) {
    body(
      { _ = try unsafeDowncast($0, to: TypedMethod<R, repeat each A>.self).call($1, self) },
      { method, target in
        let answer = try unsafeDowncast(method, to: TypedMethod<R, repeat each A>.self).call(target, self)
        return ArgumentBox(storage: answer, isSendable: method.resultCrosses)
      })
  }
}

@inlinable
func packCount<each T>(_ types: repeat (each T).Type) -> Int {
  var count = 0
  for _ in repeat each types { count += 1 }
  return count
}
