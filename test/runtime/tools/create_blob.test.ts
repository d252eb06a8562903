import fc from "fast-check";
import { expect, test } from "vitest";
import { openTools, refusal } from "./open-tools.ts";
import { defaultToolLimits } from "../../../src/runtime/blobs/blob-rules.ts";

interface Created {
  readonly blob_id: string;
  readonly size_bytes: number;
}

test("content is stored as UTF-8, and size_bytes counts the stored bytes", async () => {
  const { call } = await openTools({});
  const { blob_id, size_bytes } = (await call("create_blob", { content: "hé", kind: "text/plain" })) as Created;
  expect(size_bytes).toBe(3);
  expect(blob_id).toMatch(/^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
  expect(await call("read_blob", { blob_id })).toMatchObject({ content: "hé", kind: "text/plain" });
});

test("empty content is allowed, as text and as base64", async () => {
  const { call } = await openTools({});
  for (const kind of ["text/plain", "image/png;base64"]) {
    expect(await call("create_blob", { content: "", kind })).toMatchObject({ size_bytes: 0 });
  }
});

test("every text is returned as it was stored", async () => {
  const { call } = await openTools({});
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (content) => {
      const { blob_id } = (await call("create_blob", { content, kind: "text/plain" })) as Created;
      const answer = (await call("read_blob", { blob_id, mode: "full" })) as { content: string; encoding: string };
      const bytes = Buffer.from(answer.content, answer.encoding === "utf-8" ? "utf8" : "base64");
      expect(bytes).toEqual(Buffer.from(content));
    }),
  );
});

test("with ;base64 in kind, content is decoded, ignoring whitespace and missing padding", async () => {
  const { call } = await openTools({});
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1 }), async (bytes) => {
      const text = Buffer.from(bytes).toString("base64");
      for (const content of [text, text.replaceAll("=", ""), `\n${text.replace(/.{5}/g, "$&\r\n ")}`]) {
        const created = (await call("create_blob", { content, kind: "image/png;base64" })) as Created;
        expect(created.size_bytes).toBe(bytes.length);
        expect(await call("read_blob", { blob_id: created.blob_id })).toMatchObject({ kind: "image/png" });
      }
    }),
    { numRuns: 30 },
  );
});

test.each(["a", "ab=", "ab===", "a=bc", "ab-_", "====", "ab!=", "abcde"])("rejects %s as base64", async (content) => {
  const { call } = await openTools({});
  const { code, violations } = await refusal(call("create_blob", { content, kind: "image/png;base64" }));
  expect([code, (violations as { field: string }[])[0]?.field]).toEqual(["VALIDATION_ERROR", "/content"]);
});

test("text with lone surrogates is refused", async () => {
  const { call } = await openTools({});
  expect(await refusal(call("create_blob", { content: "a\ud800b", kind: "text/plain" }))).toMatchObject({
    code: "VALIDATION_ERROR",
    violations: [{ field: "/content" }],
  });
});

test.each(["", "text", "text/", "text/plain; x", "text/plain\n", `text/${"x".repeat(123)}`, ";base64"])(
  "rejects the kind %j",
  async (kind) => {
    const { call } = await openTools({});
    expect(await refusal(call("create_blob", { content: "x", kind }))).toMatchObject({
      code: "VALIDATION_ERROR",
      violations: [{ field: "/kind" }],
    });
  },
);

test("a kind of 127 characters is accepted and returned unchanged", async () => {
  const { call } = await openTools({});
  const kind = `text/${"x".repeat(122)}`;
  const { blob_id } = (await call("create_blob", { content: "x", kind })) as Created;
  expect(await call("read_blob", { blob_id })).toMatchObject({ kind });
});

test.each(["text/plain", "image/png;base64"])(
  "10 bytes fit where the limit is 10, and 11 do not (%s)",
  async (kind) => {
    const { call } = await openTools(
      {},
      { blobs: { maxBlobBytes: 10 }, limits: { ...defaultToolLimits, maxBlobBytes: 10 } },
    );
    const content = (size: number) => {
      const bytes = Buffer.alloc(size, "x");
      return bytes.toString(kind === "text/plain" ? "utf8" : "base64");
    };
    expect(await call("create_blob", { content: content(10), kind })).toMatchObject({ size_bytes: 10 });
    expect(await refusal(call("create_blob", { content: content(11), kind }))).toMatchObject({
      code: "BLOB_TOO_LARGE",
    });
  },
);

test("size_bytes counts bytes, not characters", async () => {
  const { call } = await openTools(
    {},
    { blobs: { maxBlobBytes: 10 }, limits: { ...defaultToolLimits, maxBlobBytes: 10 } },
  );
  expect(await call("create_blob", { content: "ééééé", kind: "text/plain" })).toMatchObject({ size_bytes: 10 });
  expect(await refusal(call("create_blob", { content: "éééééa", kind: "text/plain" }))).toMatchObject({
    code: "BLOB_TOO_LARGE",
  });
});

test("reports a full store", async () => {
  const { call } = await openTools({}, { blobs: { quotaBytes: 3 } });
  await call("create_blob", { content: "xxx", kind: "text/plain" });
  expect(await refusal(call("create_blob", { content: "x", kind: "text/plain" }))).toMatchObject({
    code: "QUOTA_EXCEEDED",
  });
});
