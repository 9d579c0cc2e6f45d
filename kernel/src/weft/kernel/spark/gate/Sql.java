package weft.kernel.spark.gate;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SQLConf$;
import scala.runtime.AbstractFunction0;

/**
 * SQL expressions as text to Spark's trees, in one way only.
 *
 * <p>A session's own parser replaces {@code ${…}} before it parses, and reads quotes and
 * backslashes as settings say; so text that was checked could mean something else here. This one
 * knows no variables and no session.
 */
public final class Sql {
  private static final SQLConf SETTINGS = settings();

  private Sql() {}

  /** The expression that a text says, not yet resolved. */
  public static Expression parse(String text) {
    return SQLConf$.MODULE$.withExistingConf(
        SETTINGS,
        new AbstractFunction0<Expression>() {
          @Override
          public Expression apply() {
            return new CatalystSqlParser().parseExpression(text);
          }
        });
  }

  /** The same as a column. */
  public static Column column(String text) {
    return ExpressionUtils.column(parse(text));
  }

  private static SQLConf settings() {
    SQLConf settings = new SQLConf();
    settings.setConfString("spark.sql.ansi.enabled", "true");
    settings.setConfString("spark.sql.session.timeZone", "UTC");
    return settings;
  }
}
