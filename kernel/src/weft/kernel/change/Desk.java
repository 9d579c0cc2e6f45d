package weft.kernel.change;

import weft.kernel.window.state.BucketStore;

/**
 * What a station works with in a batch.
 *
 * @param store what is kept from batch to batch
 * @param post takes letters to other stations
 * @param outlet takes results
 */
public record Desk(BucketStore store, Post post, Outlet outlet) {}
