/** The one JSON reader and writer of the kernel: {@link weft.kernel.json.Json}. */
package weft.kernel.json;
