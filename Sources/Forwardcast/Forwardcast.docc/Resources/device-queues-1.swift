import Forwardcast

@Forwarded
protocol StrapListener: AnyObject, Sendable {
  func strap(heartRate: Int) async
  @Answer(.sum) func stored() async -> Int
}
