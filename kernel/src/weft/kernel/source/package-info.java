/**
 * Records come in: raw bytes become typed columns, and three sources that only Weft has.
 *
 * <p>Parsing: {@link weft.kernel.source.Parse} makes the column, {@link
 * weft.kernel.source.RecordParser} is called for each record, as {@link
 * weft.kernel.source.JsonRecords} ({@link weft.kernel.source.JsonMembers}, {@link
 * weft.kernel.source.JsonValues}), {@link weft.kernel.source.CsvRecords} ({@link
 * weft.kernel.source.CsvFields}) or {@link weft.kernel.source.DebeziumRecords}; {@link
 * weft.kernel.source.TextValues} has the rules that all share, and {@link
 * weft.kernel.source.BadRecord} says why a record is none.
 *
 * <p>Changes: {@link weft.kernel.source.Envelope} finds the parts of an event, {@link
 * weft.kernel.source.EventRow} reads its row, with values by {@link
 * weft.kernel.source.ConnectValues} and the {@link weft.kernel.source.ConnectType}s of its schema,
 * {@link weft.kernel.source.Unavailable} knows those that were left out, and {@link
 * weft.kernel.source.Origin} says where the change stands.
 *
 * <p>Sources: {@link weft.kernel.source.FeedSource} gives segment files one by one, {@link
 * weft.kernel.source.JournalSource} those that a {@link weft.kernel.source.Journal} in Python
 * writes. Each is a {@link weft.kernel.source.SourceTable} with a {@link
 * weft.kernel.source.CountOffset}, and what it gave between two of them it gives again as a {@link
 * weft.kernel.source.BatchAgain}.
 *
 * <p>Text files: {@link weft.kernel.source.FileSource} asks a {@link
 * weft.kernel.source.FileFollower} in Python for the {@link weft.kernel.source.FileRange}s of a
 * batch; a task reads its own as {@link weft.kernel.source.FileRecords}, cut into {@link
 * weft.kernel.source.TextRecords}: {@link weft.kernel.source.TextLines}, and of CSV {@link
 * weft.kernel.source.QuotedRecords}.
 */
package weft.kernel.source;
