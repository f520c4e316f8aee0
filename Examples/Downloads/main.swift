// main.swift: several resources load concurrently, and their progress is added up.
// Example: Downloads. Run it with `swift run downloads`.

import Forwardcast

// Returns the first result that is not an error; later mirrors are not called.
let mirrors = MirrorProxy()
mirrors.onError = { _ in print("a mirror is closed") }
for (name, isOpen) in [("north", false), ("south", true), ("west", true)] {
  mirrors.add(Host(name, isOpen: isOpen), ownership: .strong)
}
print("from \(try await mirrors.address(of: "film", returning: .firstSuccess) ?? "nowhere")")

let downloads = LoadingProxy()
let delegates = LoadingDelegateProxy()

// Parts may load faster than the bar is drawn, so at most one update waits.
let bar = ProgressBar(of: downloads)
delegates.add(bar, delivery: .mainActor, buffer: .latestPerSelector)

let resources = [20, 5, 40].map { Download(parts: $0, delegates: delegates) }
for resource in resources { downloads.add(resource) }

print("loading \(downloads.count) resources")
try await withThrowingTaskGroup(of: Void.self) { group in
  for resource in resources { group.addTask { try await resource.load() } }
  try await group.waitForAll()
}
try await delegates.drain()
print("loaded: \(try await downloads.progress(returning: .all))")

// Prints:
// a mirror is closed
// from south/film
// loading 3 resources
// [##########..............................] 25 %
// [####################....................] 50 %
// [##############################..........] 75 %
// [########################################] 100 %
// loaded: [1.0, 1.0, 1.0]
