package weft.kernel.spark;

import java.io.Serializable;
import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Generator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Enumeration;
import scala.collection.IterableOnce;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A table-generating expression: rows in, any number of rows out, and more when the partition ends.
 *
 * <p>This is how Java code of ours sees Catalyst's own rows inside a streaming plan, without
 * conversion to objects. Each task has an instance of its own.
 */
public abstract class RowGenerator extends Expression
    implements Generator, CodegenFallback, Serializable {
  private static final long serialVersionUID = 1;

  /** No rows: what most rows become. */
  protected static final Iterator<InternalRow> NONE = Collections.emptyIterator();

  private static final IterableOnce<InternalRow> NOTHING = CollectionConverters.asScala(NONE);

  private final Inputs inputs;
  private final StructType elementSchema;
  private final String identity;
  private Seq<Enumeration.Value> nodePatterns;

  /**
   * Plans are compared by it: Spark reuses the shuffle of one generator for another that is equal.
   */
  protected RowGenerator(Inputs inputs, StructType elementSchema, String identity) {
    this.inputs = inputs;
    this.elementSchema = elementSchema;
    this.identity = identity;
    Generator.$init$(this);
  }

  /** The same generator over other inputs. */
  protected abstract RowGenerator over(Inputs replaced);

  /** The rows that a row becomes. */
  protected abstract Iterator<InternalRow> take(InternalRow row);

  /** The rows that come when the partition has ended. */
  protected Iterator<InternalRow> finish() {
    return NONE;
  }

  protected final Inputs inputs() {
    return inputs;
  }

  /** What it makes of the rows that it is selected from. */
  public final Column column() {
    return ExpressionUtils.column(this);
  }

  @Override
  public final Seq<Expression> children() {
    return CollectionConverters.asScala(inputs.expressions()).toList();
  }

  @Override
  public final Expression withNewChildrenInternal(IndexedSeq<Expression> replaced) {
    return over(new Inputs(CollectionConverters.asJava(replaced)));
  }

  @Override
  public final StructType elementSchema() {
    return elementSchema;
  }

  @Override
  public final DataType dataType() {
    return Generator.super.dataType();
  }

  @Override
  public final boolean nullable() {
    return Generator.super.nullable();
  }

  @Override
  public final boolean foldable() {
    return Generator.super.foldable();
  }

  @Override
  public final IterableOnce<InternalRow> eval(InternalRow row) {
    return scala(take(row));
  }

  @Override
  public final IterableOnce<InternalRow> terminate() {
    return scala(finish());
  }

  private static IterableOnce<InternalRow> scala(Iterator<InternalRow> rows) {
    return rows == NONE ? NOTHING : CollectionConverters.asScala(rows);
  }

  @Override
  public final ExprCode doGenCode(CodegenContext context, ExprCode code) {
    return CodegenFallback.super.doGenCode(context, code);
  }

  @Override
  public final Seq<Enumeration.Value> nodePatterns() {
    return nodePatterns;
  }

  @Override
  public final void org$apache$spark$sql$catalyst$expressions$Generator$_setter_$nodePatterns_$eq(
      Seq<Enumeration.Value> patterns) {
    nodePatterns = patterns;
  }

  @Override
  public final int productArity() {
    return inputs.size();
  }

  @Override
  public final Object productElement(int at) {
    return inputs.expressions().get(at);
  }

  @Override
  public final boolean canEqual(Object other) {
    return other != null && other.getClass() == getClass();
  }

  @Override
  public boolean equals(Object other) {
    return canEqual(other)
        && ((RowGenerator) other).inputs.expressions().equals(inputs.expressions())
        && ((RowGenerator) other).elementSchema.equals(elementSchema)
        && ((RowGenerator) other).identity.equals(identity);
  }

  @Override
  public int hashCode() {
    return inputs.expressions().hashCode();
  }
}
