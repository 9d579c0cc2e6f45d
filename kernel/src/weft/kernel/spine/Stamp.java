package weft.kernel.spine;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/**
 * What every row of a knot says of it: its number, when it was tied, and, when rows are new to
 * Weft, the watermark before it. Set in place while writing, so that the plan of a batch, and the
 * code that Spark generates for it, is the same for every knot.
 */
final class Stamp implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final long MICROS = 1000L;
  private static final String LATE = "late";
  private static final int ABSENT = -1;

  private final long knot;
  private final long at;
  private final boolean stampsWatermark;
  private final Long watermark;

  private Stamp(long knot, long at, boolean stampsWatermark, Long watermark) {
    this.knot = knot;
    this.at = at;
    this.stampsWatermark = stampsWatermark;
    this.watermark = watermark;
  }

  /**
   * From {@code {"knot": …, "at_ms": …, "watermark_ms": … | null}}; without the last one watermarks
   * stay as they are.
   */
  static Stamp parse(JsonNode spec) {
    if (spec.isMissingNode() || spec.isNull()) {
      return null;
    }
    JsonNode watermark = spec.path("watermark_ms");
    return new Stamp(
        spec.required("knot").asLong(),
        spec.required("at_ms").asLong() * MICROS,
        !watermark.isMissingNode(),
        watermark.isNumber() ? watermark.asLong() * MICROS : null);
  }

  /**
   * The stamp of one output, by the places of the fields in its system column. Late rows keep the
   * watermark that they were late for.
   */
  Setter on(StructType system, String column) {
    return new Setter(
        system.fieldIndex("knot"),
        system.fieldIndex("at"),
        stampsWatermark && !column.equals(LATE) ? system.fieldIndex("watermark") : ABSENT);
  }

  /** Sets the stamp in rows of one layout. */
  final class Setter {
    private final int knotField;
    private final int atField;
    private final int watermarkField;

    private Setter(int knotField, int atField, int watermarkField) {
      this.knotField = knotField;
      this.atField = atField;
      this.watermarkField = watermarkField;
    }

    void set(UnsafeRow system) {
      system.setLong(knotField, knot);
      system.setLong(atField, at);
      if (watermarkField != ABSENT) {
        if (watermark == null) {
          system.setNullAt(watermarkField);
        } else {
          system.setLong(watermarkField, watermark);
        }
      }
    }
  }
}
