package weft.kernel.spark;

/**
 * What a task sends to one of the next step.
 *
 * @param to the partition of that task
 * @param bytes what it gets
 */
public record Addressed(int to, byte[] bytes) {}
