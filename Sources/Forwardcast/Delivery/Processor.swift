// Processor.swift: gives the processor to another thread.
// Layer: Delivery. See DESIGN.md, "Delivery".

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Lets another thread that is ready run first, if there is one.
func yieldProcessor() { sched_yield() }
