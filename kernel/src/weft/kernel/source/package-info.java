/**
 * Records come in: raw bytes become typed columns, and two sources that only Weft has.
 *
 * <p>Parsing: {@link weft.kernel.source.Parse} makes the column, {@link
 * weft.kernel.source.RecordParser} is called for each record, as {@link
 * weft.kernel.source.JsonRecords} ({@link weft.kernel.source.JsonMembers}, {@link
 * weft.kernel.source.JsonValues}) or {@link weft.kernel.source.CsvRecords} ({@link
 * weft.kernel.source.CsvFields}); {@link weft.kernel.source.TextValues} has the rules that both
 * share, and {@link weft.kernel.source.BadRecord} says why a record is none.
 *
 * <p>Sources: {@link weft.kernel.source.FeedSource} gives segment files one by one, {@link
 * weft.kernel.source.TickSource} gives batches without rows. Both are a {@link
 * weft.kernel.source.SourceTable} with a {@link weft.kernel.source.CountOffset}.
 */
package weft.kernel.source;
