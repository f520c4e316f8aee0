// Themes.swift: a public protocol with its proxy, and a public receiver, in a client package.

public import Forwardcast

@Forwarded
public protocol ThemesDelegate: AnyObject {
  func themesColorChanged(_ color: String)
  @Answer(.sum) func screens() -> Int
}

@Receiver
open class Console {
  public init() {}
  @Message public func restart(_ delay: Int) -> Bool { delay > 1 }
}
