package weft.kernel.sink;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The senders that this process keeps from knot to knot; whoever uses one has it alone. */
final class Senders {
  private static final long IDLE_NS = 600_000_000_000L;
  private static final Map<String, IdleSender> KEPT = new HashMap<>();

  private Senders() {}

  private record IdleSender(Sender sender, long since) {}

  /** The sender of a slot under the same claim, or null when none is kept. */
  static Sender take(SlotAddress address) {
    synchronized (KEPT) {
      IdleSender kept = KEPT.remove(name(address));
      return kept == null ? null : kept.sender;
    }
  }

  static void keep(Sender sender) {
    List<Sender> others;
    synchronized (KEPT) {
      IdleSender other = KEPT.put(name(sender.address), new IdleSender(sender, System.nanoTime()));
      others = removeIf(kept -> System.nanoTime() - kept.since > IDLE_NS);
      if (other != null) {
        others.add(other.sender);
      }
    }
    others.forEach(Sender::close);
  }

  /** Closes those of a claim that is over. */
  static void release(String claim) {
    List<Sender> over;
    synchronized (KEPT) {
      over = removeIf(kept -> kept.sender.address.claim().equals(claim));
    }
    over.forEach(Sender::close);
  }

  private static List<Sender> removeIf(Predicate<IdleSender> condition) {
    List<Sender> removed = new ArrayList<>();
    KEPT.values()
        .removeIf(
            kept -> {
              boolean isOver = condition.test(kept);
              if (isOver) {
                removed.add(kept.sender);
              }
              return isOver;
            });
    return removed;
  }

  private static String name(SlotAddress address) {
    return address.id() + '\n' + address.claim();
  }
}
