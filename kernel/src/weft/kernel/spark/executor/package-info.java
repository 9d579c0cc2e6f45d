/**
 * The executors of a session: {@link weft.kernel.spark.executor.ExecutorPool} says which there are
 * and changes how many, {@link weft.kernel.spark.executor.WorkMeter} says how long the tasks of
 * each query took.
 */
package weft.kernel.spark.executor;
