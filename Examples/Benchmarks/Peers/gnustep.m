// gnustep.m: one message through NSProxy and NSInvocation to many targets, in GNUstep.
// Prints: peer,case,N,median ns per delivery.

#import <Foundation/Foundation.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

@interface Target : NSObject { @public long received; }
- (void) tick: (long)value;
@end
@implementation Target
- (void) tick: (long)value { received += value; }
@end

/// The usual multicast: forwards the invocation to each target that responds. It does not retain
/// them, because this runtime has no zeroing weak references.
@interface Multicast : NSProxy { @public Target **targets; long count; }
- (id) init;
@end
@implementation Multicast
- (id) init { return self; }
- (NSMethodSignature *) methodSignatureForSelector: (SEL)selector {
  for (long i = 0; i < count; i++)
    if ([targets[i] respondsToSelector: selector]) return [targets[i] methodSignatureForSelector: selector];
  return nil;
}
- (BOOL) respondsToSelector: (SEL)selector {
  for (long i = 0; i < count; i++)
    if ([targets[i] respondsToSelector: selector]) return YES;
  return NO;
}
- (void) forwardInvocation: (NSInvocation *)invocation {
  SEL selector = [invocation selector];
  for (long i = 0; i < count; i++)
    if ([targets[i] respondsToSelector: selector]) [invocation invokeWithTarget: targets[i]];
}
@end

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static void *sleepForEver(void *unused) { while (1) sleep(1000); return unused; }
static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef void (*Work)(Multicast *proxy, long messages);
static void forward(Multicast *proxy, long messages) {
  for (long i = 0; i < messages; i++) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    [(Target *)(id)proxy tick: i];
    [pool release];
  }
}
static void loop(Multicast *proxy, long messages) {
  for (long m = 0; m < messages; m++)
    for (long i = 0; i < proxy->count; i++)
      if ([proxy->targets[i] respondsToSelector: @selector(tick:)]) [proxy->targets[i] tick: m];
}
static void ask(Multicast *proxy, long messages) {
  for (long m = 0; m < messages; m++) [proxy respondsToSelector: @selector(pause)];
}

static void measure(const char *name, Multicast *proxy, Work work, long units) {
  long messages = 1;
  double start, samples[15];
  do {
    messages *= 2;
    start = now();
    work(proxy, messages);
  } while (now() - start < 2e6);
  for (int i = 0; i < 15; i++) {
    start = now();
    work(proxy, messages);
    samples[i] = (now() - start) / ((double)messages * units);
  }
  qsort(samples, 15, sizeof(double), ascending);
  printf("GNUstep,%s,%ld,%.2f\n", name, proxy->count, samples[7]);
  fflush(stdout);
}

int main(void) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  pthread_t thread;
  pthread_create(&thread, NULL, sleepForEver, NULL);
  for (long n = 1; n <= 1000; n *= 10) {
    Multicast *proxy = [[Multicast alloc] init];
    proxy->targets = calloc(n, sizeof(Target *));
    proxy->count = n;
    for (long i = 0; i < n; i++) proxy->targets[i] = [Target new];
    [(Target *)(id)proxy tick: 5];
    if (proxy->targets[n - 1]->received != 5) { fprintf(stderr, "the last target got nothing\n"); return 1; }
    measure("proxy", proxy, forward, n);
    measure("loop", proxy, loop, n);
    measure("responds", proxy, ask, 1);
  }
  [pool release];
  return 0;
}
