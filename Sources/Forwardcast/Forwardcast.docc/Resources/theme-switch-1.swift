import Forwardcast

@Forwarded
protocol ThemeDelegate: AnyObject {
  func themeChanged(to color: String)
}
