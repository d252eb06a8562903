import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBlobId, newBlobId, parseBlobKind } from "../../src/runtime/blobs/blob-rules.ts";

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
  it("encodes at least 80 random bits in lowercase hex", () => {
    const ids = Array.from({ length: 1000 }, () => newBlobId());
    for (const id of ids) expect(id).toMatch(/^blob:[0-9a-f]{32}$/);
    expect(ids.every(isBlobId)).toBe(true);
    expect(new Set(ids).size).toBe(1000);
    // Every bit varies.
    for (let at = 5; at < 37; at += 1) expect(new Set(ids.map((id) => id[at])).size).toBe(16);
  });
});

describe("parseBlobKind", () => {
  it.each([
    "text/plain",
    "application/vnd.api+json",
    "text/plain;charset=utf-8",
    "text/plain; charset=utf-8 ; x=y",
    'multipart/mixed; boundary="a \\"b\\"; c"',
    "X-Custom/*",
  ])("accepts %s unchanged", (kind) => {
    expect(parseBlobKind(kind)).toEqual({ kind, base64: false });
  });

  it.each([
    ["image/png;base64", "image/png"],
    ["image/png ; BASE64", "image/png"],
    ["text/plain;charset=utf-8;base64", "text/plain;charset=utf-8"],
  ])("strips the base64 flag from %s", (text, kind) => {
    expect(parseBlobKind(text)).toEqual({ kind, base64: true });
  });

  it.each([
    ...["", "/", "text", "text/", "/plain", "text/plain/x", "text /plain", " text/plain", "text/plain "],
    ...["text/plain;", "text/plain;a", "text/plain;a=", 'text/plain;a="b', "text/plain;base64;base64", ";base64"],
    ...["text/plain\n", "text/pl\0ain", "text/plàin", 'text/plain;a="é"', "text/plain\r\nX-Header: y"],
  ])("rejects %j", (text) => {
    expect(parseBlobKind(text)).toBeUndefined();
  });

  it("accepts 127 characters and rejects 128, including the base64 flag", () => {
    expect(parseBlobKind(`a/${"b".repeat(125)}`)).toBeDefined();
    expect(parseBlobKind(`a/${"b".repeat(126)}`)).toBeUndefined();
    expect(parseBlobKind(`a/${"b".repeat(118)};base64`)).toBeDefined();
    expect(parseBlobKind(`a/${"b".repeat(119)};base64`)).toBeUndefined();
  });

  it("accepts only printable ASCII and parses its own result to the same kind", () => {
    const likely = fc.string({
      unit: fc.constantFrom("a", "b", "/", ";", "=", " ", '"', "\\", ";base64", "\n", "é"),
      maxLength: 130,
    });
    fc.assert(
      fc.property(fc.oneof(likely, fc.string({ unit: "binary" })), (text) => {
        const parsed = parseBlobKind(text);
        if (parsed === undefined) return;
        expect(text).toMatch(/^[ -~]{3,127}$/);
        expect(parseBlobKind(parsed.kind)).toEqual({ kind: parsed.kind, base64: false });
      }),
      { numRuns: 2000 },
    );
  });
});
