package weft.kernel.bytes;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The one hash of the kernel. */
public final class Sha256 {
  private Sha256() {}

  /** A digest that has taken nothing yet. */
  public static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This Java has no SHA-256.", e);
    }
  }
}
