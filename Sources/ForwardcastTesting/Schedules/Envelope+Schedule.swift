// Envelope+Schedule.swift: what a schedule wants to know of what is posted to a context.

import Forwardcast

extension Envelope {
  /// What has to live until the envelope is opened, which does not keep it itself; `nil` where it holds no message.
  var keptGroup: DeliveryGroup? { (self as? Parcel)?.group ?? (self as? PlainParcel)?.group }

  /// Whether it runs nobody's code.
  var isSilent: Bool { self is DrainMarker || self is GroupRelease }

  /// Whether its sender waits for an answer.
  var isAwaited: Bool { (self as? Parcel)?.details?.pending?.isAbandoned == false }
}
