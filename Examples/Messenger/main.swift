// main.swift: log in, receive messages, log out; services are created on first use.
// Example: Messenger. Run it with `swift run messenger`.

import Forwardcast
import ForwardcastCenters

let center = ServiceCenter()
let extensions = try center.service(ExtensionCenter.self)
_ = extensions.declare((any MessageExtension).self, table: MessageExtensionProxy.table)
extensions.registerLazily(GalleryService.self, for: (any MessageExtension).self) { $0 }
let window = ChatWindow()
extensions.register(window, for: (any MessageExtension).self)

for user in ["ann", "bob"] {
  print("\(user) logs in")
  try center.service(AccountService.self).logIn(user)
  print("a message arrives")
  try center.service(MessageService.self).arrive("hello", from: "eve")
  print("a picture arrives")
  try center.service(MessageService.self).arrive(picture: "cat.png")
  print("\(user) logs out of \(center.services.map(\.name).joined(separator: ", "))")
  center.clearData()
}
print("left: \(center.services.map(\.name).joined(separator: ", "))")

// Prints:
// ann logs in
//   account service made
// a message arrives
//   message service made for ann
//   window: eve says hello
// a picture arrives
//   CDN service made
//   gallery service made
//   gallery: cat.png loaded
//   window: a frame for cat.png
// ann logs out of ExtensionCenter, AccountService, MessageService, CDNService, GalleryService
//   account service forgets ann
//   gallery service gone
//   message service gone
//   account service gone
// bob logs in
//   account service made
// a message arrives
//   message service made for bob
//   window: eve says hello
// a picture arrives
//   gallery service made
//   gallery: cat.png from the cache
//   window: a frame for cat.png
// bob logs out of ExtensionCenter, CDNService, AccountService, MessageService, GalleryService
//   account service forgets bob
//   gallery service gone
//   message service gone
//   account service gone
// left: ExtensionCenter, CDNService
