package weft.kernel.change;

import java.util.ArrayList;
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

  private record Link(int station, UTF8String link) {}

  void run(List<Letter> letters) {
    Map<Link, List<Letter>> places = new LinkedHashMap<>();
    for (Letter letter : letters) {
      Link link = new Link(letter.station(), UTF8String.fromBytes(letter.link()));
      places.computeIfAbsent(link, each -> new ArrayList<>(1)).add(letter);
    }
    places.forEach(
        (place, brought) ->
            plan.station(place.station()).settle(place.link().getBytes(), brought, desk));
  }
}
