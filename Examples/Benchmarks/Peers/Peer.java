// Peer.java: one message through a reflective proxy to many weakly held targets, in Java.
// Prints: peer,case,N,median ns per delivery.

import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;

interface Listener {
  void tick(long value);
}

final class Target implements Listener {
  long received;
  public void tick(long value) { received += value; }
}

/** Forwards whatever is called to all that are alive. */
final class Multicast implements InvocationHandler {
  final WeakReference<Object>[] targets;

  @SuppressWarnings("unchecked")
  Multicast(Object[] all) {
    targets = new WeakReference[all.length];
    for (int i = 0; i < all.length; i++) targets[i] = new WeakReference<>(all[i]);
  }

  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    Object last = null;
    for (WeakReference<Object> reference : targets) {
      Object target = reference.get();
      if (target == null || !method.getDeclaringClass().isInstance(target)) continue;
      try {
        last = method.invoke(target, arguments);
      } catch (InvocationTargetException error) {
        throw error.getCause();
      }
    }
    return last;
  }

  /** Whether anybody is of a type: asks one after the other. */
  boolean responds(Class<?> type) {
    for (WeakReference<Object> reference : targets) if (type.isInstance(reference.get())) return true;
    return false;
  }
}

public final class Peer {
  static long sink;

  interface Work { void run(int messages); }

  static void measure(String name, int n, int units, Work work) {
    int messages = 1;
    long end = System.nanoTime() + 1_000_000_000L;  // until all code is compiled
    long batch;
    do {
      long start = System.nanoTime();
      work.run(messages);
      batch = System.nanoTime() - start;
      if (batch < 2_000_000) messages *= 2;
    } while (System.nanoTime() < end || batch < 2_000_000);
    double[] samples = new double[15];
    for (int i = 0; i < samples.length; i++) {
      long start = System.nanoTime();
      work.run(messages);
      samples[i] = (System.nanoTime() - start) / ((double) messages * units);
    }
    Arrays.sort(samples);
    System.out.printf(java.util.Locale.ROOT, "Java,%s,%d,%.2f%n", name, n, samples[7]);
  }

  /** One case in each process, so that none is compiled for what another one did. */
  public static void main(String[] words) {
    String name = words[0];
    int n = Integer.parseInt(words[1]);
    Target[] targets = new Target[n];
    for (int i = 0; i < n; i++) targets[i] = new Target();
    Multicast multicast = new Multicast(targets);
    Listener proxy = (Listener) Proxy.newProxyInstance(
        Peer.class.getClassLoader(), new Class<?>[] {Listener.class}, multicast);
    proxy.tick(5);
    if (targets[n - 1].received != 5) throw new IllegalStateException("the last target got nothing");
    switch (name) {
      case "proxy" -> measure(name, n, n, m -> { for (int i = 0; i < m; i++) proxy.tick(i); });
      case "loop" -> measure(name, n, n, m -> {
        for (int i = 0; i < m; i++)
          for (WeakReference<Object> reference : multicast.targets)
            if (reference.get() instanceof Listener target) target.tick(i);
      });
      case "responds" -> measure(name, n, 1, m -> {
        for (int i = 0; i < m; i++) if (multicast.responds(Runnable.class)) sink++;
      });
      default -> throw new IllegalArgumentException(name);
    }
  }
}
