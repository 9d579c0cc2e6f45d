package weft.kernel.window;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Generator;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Enumeration;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A table-generating expression: rows in, any number of rows out, and more when the partition ends.
 *
 * <p>This is how Java code of ours sees Catalyst's own rows inside a streaming plan, without
 * conversion to objects. Each task has an instance of its own.
 */
abstract class RowGenerator extends Expression implements Generator, CodegenFallback, Serializable {
  private static final long serialVersionUID = 1;

  private final List<Expression> children;
  private final StructType elementSchema;
  private final String identity;
  private Seq<Enumeration.Value> nodePatterns;

  /**
   * Plans are compared by it: Spark reuses the shuffle of one generator for another that is equal.
   */
  RowGenerator(List<Expression> children, StructType elementSchema, String identity) {
    this.children = List.copyOf(children);
    this.elementSchema = elementSchema;
    this.identity = identity;
    Generator.$init$(this);
  }

  abstract RowGenerator withChildren(List<Expression> replaced);

  final List<Expression> inputs() {
    return children;
  }

  final UnsafeProjection projection(int from, int to) {
    return UnsafeProjection.create(
        CollectionConverters.asScala(children.subList(from, to)).toList());
  }

  @Override
  public final Seq<Expression> children() {
    return CollectionConverters.asScala(children).toList();
  }

  @Override
  public final Expression withNewChildrenInternal(IndexedSeq<Expression> replaced) {
    return withChildren(CollectionConverters.asJava(replaced));
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
  public abstract scala.collection.IterableOnce<InternalRow> eval(InternalRow row);

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
    return children.size();
  }

  @Override
  public final Object productElement(int at) {
    return children.get(at);
  }

  @Override
  public final boolean canEqual(Object other) {
    return other != null && other.getClass() == getClass();
  }

  @Override
  public boolean equals(Object other) {
    return canEqual(other)
        && ((RowGenerator) other).children.equals(children)
        && ((RowGenerator) other).elementSchema.equals(elementSchema)
        && ((RowGenerator) other).identity.equals(identity);
  }

  @Override
  public int hashCode() {
    return children.hashCode();
  }
}
