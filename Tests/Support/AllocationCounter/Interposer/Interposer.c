// Interposer.c: counts calls of the C library's malloc.
// A program's own definitions replace the library's, for every library of the process.

#include "Interposer.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define INTERPOSER_IS_ABSENT
#endif
#endif
#ifndef __GLIBC__
#define INTERPOSER_IS_ABSENT
#endif

enum { NOBODY, ONE_THREAD, EVERYBODY };

// Written by the thread that begins and ends counting; read by all threads.
static int watched = NOBODY;
static long requests;
static __thread bool is_watched_thread;

void interposer_begin(bool of_this_thread_only) {
  __atomic_store_n(&requests, 0, __ATOMIC_RELAXED);
  is_watched_thread = true;
  __atomic_store_n(&watched, of_this_thread_only ? ONE_THREAD : EVERYBODY, __ATOMIC_SEQ_CST);
}

long interposer_end(void) {
  __atomic_store_n(&watched, NOBODY, __ATOMIC_SEQ_CST);
  is_watched_thread = false;
  return __atomic_load_n(&requests, __ATOMIC_RELAXED);
}

#ifdef INTERPOSER_IS_ABSENT

bool interposer_is_present(void) { return false; }

#else

#include <errno.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

bool interposer_is_present(void) { return true; }

static inline void note(void) {
  int who = __atomic_load_n(&watched, __ATOMIC_RELAXED);
  if (who == NOBODY) return;
  if (who == EVERYBODY || is_watched_thread) __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  note();
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  note();
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  note();
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *block = memory;
  return 0;
}

#endif
