// Interposer.h: counts requests for memory, from a place that Swift cannot stand in.
// The only C of the package: Swift keeps the name `malloc` to its runtime.

#ifndef INTERPOSER_H
#define INTERPOSER_H

#include <stdbool.h>

/// Whether requests can be counted: with glibc, and without a sanitizer, which wants to stand there itself.
bool interposer_is_present(void);

/// Counts from 0, on the calling thread only or on all.
void interposer_begin(bool of_this_thread_only);

/// Ends counting: how many blocks were asked for.
long interposer_end(void);

#endif
