package weft.kernel.avro;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import weft.kernel.json.Json;

/**
 * A registry of schemas, asked over HTTP. A schema is kept for as long as the process lives: of a
 * number it is always the same. That there is none is asked again after a while.
 */
final class Registry {
  private static final Duration ANSWER = Duration.ofSeconds(10);
  private static final Duration AGAIN = Duration.ofSeconds(10);
  private static final int NOT_FOUND = 404;
  private static final int FINE = 200;
  private static final Map<String, Registry> KNOWN = new ConcurrentHashMap<>();

  private final String address;
  private final Map<Integer, KnownSchema> schemas = new ConcurrentHashMap<>();
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(ANSWER).build();

  private Registry(String address) {
    this.address = address.endsWith("/") ? address : address + "/";
  }

  /** The registry at an address, the same one each time. */
  static Registry at(String address) {
    return KNOWN.computeIfAbsent(address, Registry::new);
  }

  /** The schema of a number. */
  KnownSchema get(int id) throws UnreadableException {
    KnownSchema known = schemas.get(id);
    if (known == null || known.isStale(AGAIN.toNanos())) {
      known = ask(id);
      schemas.put(id, known);
    }
    if (known.bad() != null) {
      throw new UnreadableException(known.bad());
    }
    return known;
  }

  private KnownSchema ask(int id) {
    HttpResponse<String> answer = send(id);
    if (answer.statusCode() == NOT_FOUND) {
      return KnownSchema.missing("the registry has no schema " + id);
    }
    if (answer.statusCode() != FINE) {
      throw away("it answered " + answer.statusCode(), null);
    }
    try {
      JsonNode said = Json.parse(answer.body());
      String kind = said.path("schemaType").asText("AVRO");
      if (!kind.equals("AVRO")) {
        return KnownSchema.missing("schema " + id + " is " + kind + ", and Avro is read alone");
      }
      return KnownSchema.of(new Schema.Parser().parse(said.path("schema").asText()));
    } catch (AvroRuntimeException | IllegalArgumentException broken) {
      return KnownSchema.missing("schema " + id + " cannot be read: " + broken.getMessage());
    }
  }

  private HttpResponse<String> send(int id) {
    URI place = URI.create(address + "schemas/ids/" + id);
    HttpRequest request = HttpRequest.newBuilder(place).timeout(ANSWER).GET().build();
    try {
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw away(e.toString(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw away("the question was interrupted", null);
    }
  }

  private UncheckedIOException away(String why, IOException cause) {
    String told = "The registry of schemas at " + address + " does not answer: " + why;
    return new UncheckedIOException(told, cause == null ? new IOException(why) : cause);
  }
}
