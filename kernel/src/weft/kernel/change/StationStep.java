package weft.kernel.change;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.unsafe.types.UTF8String;

/** One level of stations: letters are sorted by their places, and each place settles its own. */
final class StationStep {
  private final Plan plan;
  private final Desk desk;

  StationStep(Plan plan, Desk desk) {
    this.plan = plan;
    this.desk = desk;
  }

  /** The places whose letters were taken before the last of the batch had come. */
  private final Map<Link, List<Letter>> ahead = new LinkedHashMap<>();

  private record Link(int station, UTF8String link) {}

  void run(List<Letter> letters) {
    byPlace(letters).forEach(this::settle);
  }

  /** Takes letters that would put results out, and leaves these for the end of the batch. */
  void takeAhead(List<Letter> letters) {
    byPlace(letters)
        .forEach(
            (place, brought) -> {
              byte[] link = place.link().getBytes();
              plan.station(place.station()).takeAhead(link, brought, desk);
              ahead.put(place, List.of());
            });
  }

  /** Settles place after place while results are asked for, and gives messages of many results. */
  Iterator<byte[]> results(List<Letter> letters) {
    ahead.putAll(byPlace(letters));
    var places = ahead.entrySet().iterator();
    Outlet outlet = desk.outlet();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        while (places.hasNext() && !outlet.isFull()) {
          var place = places.next();
          places.remove();
          settle(place.getKey(), place.getValue());
        }
        return !outlet.isEmpty();
      }

      @Override
      public byte[] next() {
        return outlet.empty();
      }
    };
  }

  /**
   * The letters of each place, in an order of their own. A task that runs again gets them in
   * another order, and what it keeps may come to lie beside what the first one has kept.
   */
  private static Map<Link, List<Letter>> byPlace(List<Letter> letters) {
    Map<Link, List<Letter>> places = new LinkedHashMap<>();
    for (Letter letter : letters) {
      Link link = new Link(letter.station(), UTF8String.fromBytes(letter.link()));
      places.computeIfAbsent(link, each -> new ArrayList<>(1)).add(letter);
    }
    places.values().forEach(brought -> brought.sort(Letter.ORDER));
    return places;
  }

  private void settle(Link place, List<Letter> letters) {
    plan.station(place.station()).settle(place.link().getBytes(), letters, desk);
  }
}
