import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { BrowseRefusal } from "../browse-context.ts";
import { forbidden } from "./admit-page.ts";

/** Ties a decision of the user to the bytes of the skill that the page showed. A nonce is valid as long as this process lives. */
export class Nonces {
  readonly #key = randomBytes(32);

  #bytesOf(id: string, digest: string | undefined): Buffer {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([id, digest ?? null]))
      .digest();
  }

  /** Makes a nonce. `digest`: absent for a skill whose files cannot all be read. */
  of(id: string, digest: string | undefined): string {
    return this.#bytesOf(id, digest).toString("base64url");
  }

  /**
   * Why a decision is refused: it is about other bytes than those of `current`, or its nonce was not made for its id and digest.
   * Undefined if the decision counts.
   */
  faultOf(
    { id, digest, nonce }: { readonly id: string; readonly digest: string | undefined; readonly nonce: string },
    current: string | undefined,
  ): BrowseRefusal | undefined {
    const given = Buffer.from(nonce, "base64url");
    const expected = this.#bytesOf(id, digest);
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return forbidden("The nonce is not that of the skill and digest that were shown; read the skill again.");
    if (digest !== current)
      return { status: 409, code: "STALE", message: "The skill changed since you looked at it; read it again." };
    return undefined;
  }
}
