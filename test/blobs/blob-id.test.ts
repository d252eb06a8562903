import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBlobId, newBlobId } from "../../src/blobs/blob-arguments.ts";

describe("isBlobId", () => {
  it.each(["blob:a", "blob:0", "blob:A.b_c-d", `blob:${"a".repeat(128)}`])("accepts %s", (text) => {
    expect(isBlobId(text)).toBe(true);
  });

  it.each([
    ...["", "blob:", "a", "BLOB:a", "blob:.a", "blob:-a", "blob:_a", "blob:a/b", "blob:a\\b", "blob:..", " blob:a"],
    ...["blob:a\n", "blob:a\0", "blob:a%2e", "blob:é", "blob:blob:a", `blob:${"a".repeat(129)}`],
  ])("rejects %j", (text) => {
    expect(isBlobId(text)).toBe(false);
  });
});

describe("newBlobId", () => {
  it("encodes at least 80 random bits, all of them, in lowercase hex", () => {
    const ids = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(ids, (bytes) => {
        const id = newBlobId((empty) => {
          expect(empty.length * 8).toBeGreaterThanOrEqual(80);
          empty.set(bytes);
        });
        expect(isBlobId(id)).toBe(true);
        expect(id).toBe(`blob:${Buffer.from(bytes).toString("hex")}`);
      }),
    );
  });
});
