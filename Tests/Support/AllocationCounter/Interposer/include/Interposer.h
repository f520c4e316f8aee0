// Interposer.h: counts memory allocations.
// The only C of the package, because Swift reserves the name `malloc` for its runtime.

#ifndef INTERPOSER_H
#define INTERPOSER_H

#include <stdbool.h>

/// Whether allocations can be counted: with glibc and without a sanitizer, which replaces `malloc`.
bool interposer_is_present(void);

/// Begins to count from 0, on the calling thread only or on all threads.
void interposer_begin(bool of_this_thread_only);

/// Ends counting. Returns the number of allocations.
long interposer_end(void);

#endif
