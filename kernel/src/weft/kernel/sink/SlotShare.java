package weft.kernel.sink;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;

/** The files of one slot, and the positions before and after they are sent. */
record SlotShare(
    SlotAddress address, SlotPosition before, SlotPosition after, ArrayList<StoredFile> files)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** A file, and which of the forms it has that the files of a knot have. */
  record StoredFile(String path, long bytes, int form) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  static SlotShare parse(JsonNode spec, JsonNode share) {
    ArrayList<StoredFile> files = new ArrayList<>();
    for (JsonNode file : share.required("files")) {
      files.add(
          new StoredFile(
              file.required("path").asText(),
              file.required("bytes").asLong(),
              file.required("form").asInt()));
    }
    return new SlotShare(
        SlotAddress.parse(spec, share.required("id").asText()),
        SlotPosition.parse(share.required("before")),
        SlotPosition.parse(share.required("after")),
        files);
  }
}
