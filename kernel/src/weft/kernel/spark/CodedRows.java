package weft.kernel.spark;

import java.io.IOException;
import java.io.Serializable;
import java.util.Iterator;
import java.util.UUID;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeAndComment;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.execution.BufferedRowIterator;
import weft.kernel.bytes.Lent;

/** Code that Spark has generated for the rows of a partition, on its way to tasks. */
final class CodedRows implements Serializable {
  private static final long serialVersionUID = 1;

  private final CodeAndComment code;
  private final Lent<Object[]> references;

  CodedRows(CodeAndComment code, Object[] references) {
    this.code = code;
    this.references = new Lent<>(UUID.randomUUID().toString(), references);
  }

  /** What the code makes of the rows of a partition; each is gone when the next is asked for. */
  @SuppressWarnings({"rawtypes", "unchecked"}) // Java has no arrays of types with parameters
  Iterator<InternalRow> over(int partition, scala.collection.Iterator<InternalRow> rows) {
    Object[] borrowed = references.borrow();
    BufferedRowIterator made =
        (BufferedRowIterator) CodeGenerator.compile(code)._1().generate(borrowed);
    made.init(partition, new scala.collection.Iterator[] {rows});
    return new Iterator<>() {
      private boolean isOver;

      @Override
      public boolean hasNext() {
        if (isOver) {
          return false;
        }
        try {
          isOver = !made.hasNext();
        } catch (IOException e) {
          throw Sneaky.raise(e);
        }
        if (isOver) {
          references.giveBack(borrowed);
        }
        return !isOver;
      }

      @Override
      public InternalRow next() {
        return made.next();
      }
    };
  }
}
