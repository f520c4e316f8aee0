// BoxOpener.swift: opens boxes for methods of one, two and three arguments.
// Layer: Sending. See DESIGN.md, "Two doors".

// The form for any number of arguments opens them one after another by the metadata of their types, since the compiler does
// not unroll a pack; these are compiled for the types. `TypedMethod.open` says what they do.

@usableFromInline
enum BoxOpener1<R, A> {
  @inlinable @inline(never)
  static func open(_ boxes: [ArgumentBox], _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void) -> Bool {
    guard boxes.count == 1 else { return false }
    let opened: Arguments<A>
    do { opened = Arguments(values: (try boxes[0].opened(as: A.self))) } catch { return false }
    body(
      { _ = try unsafeDowncast($0, to: TypedMethod<R, A>.self).call($1, opened) },
      { try unsafeDowncast($0, to: TypedMethod<R, A>.self).boxedCall($1, opened) })
    return true
  }
}

@usableFromInline
enum BoxOpener2<R, A, B> {
  @inlinable @inline(never)
  static func open(_ boxes: [ArgumentBox], _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void) -> Bool {
    guard boxes.count == 2 else { return false }
    let opened: Arguments<A, B>
    do {
      opened = Arguments(values: (try boxes[0].opened(as: A.self), try boxes[1].opened(as: B.self)))
    } catch {
      return false
    }
    body(
      { _ = try unsafeDowncast($0, to: TypedMethod<R, A, B>.self).call($1, opened) },
      { try unsafeDowncast($0, to: TypedMethod<R, A, B>.self).boxedCall($1, opened) })
    return true
  }
}

@usableFromInline
enum BoxOpener3<R, A, B, C> {
  @inlinable @inline(never)
  static func open(_ boxes: [ArgumentBox], _ body: (_ run: Method.OpenedRun, _ ask: Method.OpenedAsk) -> Void) -> Bool {
    guard boxes.count == 3 else { return false }
    let opened: Arguments<A, B, C>
    do {
      opened = Arguments(
        values: (
          try boxes[0].opened(as: A.self), try boxes[1].opened(as: B.self), try boxes[2].opened(as: C.self)
        ))
    } catch {
      return false
    }
    body(
      { _ = try unsafeDowncast($0, to: TypedMethod<R, A, B, C>.self).call($1, opened) },
      { try unsafeDowncast($0, to: TypedMethod<R, A, B, C>.self).boxedCall($1, opened) })
    return true
  }
}
