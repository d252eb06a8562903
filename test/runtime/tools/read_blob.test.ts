import fc from "fast-check";
import { expect, test } from "vitest";
import { openTools, refusal } from "./open-tools.ts";

const mebibyte = 1024 * 1024;

interface Preview {
  readonly content: string;
  readonly encoding: string;
  readonly truncated: boolean;
}

async function put(content: string | Uint8Array, kind = "text/plain") {
  const { call } = await openTools({});
  const isText = typeof content === "string";
  const { blob_id } = (await call("create_blob", {
    content: isText ? content : Buffer.from(content).toString("base64"),
    kind: isText ? kind : `${kind};base64`,
  })) as { blob_id: string };
  return async (args: object = {}) => (await call("read_blob", { blob_id, ...args })) as Preview;
}

test("the default is the first 2000 bytes", async () => {
  for (const size of [0, 1999, 2000, 2001]) {
    const read = await put("x".repeat(size));
    expect(await read()).toEqual({
      content: "x".repeat(Math.min(size, 2000)),
      truncated: size > 2000,
      kind: "text/plain",
      size_bytes: size,
      encoding: "utf-8",
    });
  }
});

test("head and tail count bytes and keep whole characters", async () => {
  const unit = fc.constantFrom("a", "é", "文", "😀", "\n");
  await fc.assert(
    fc.asyncProperty(fc.string({ unit }), fc.integer({ min: 1, max: 40 }), async (text, max_bytes) => {
      const read = await put(text);
      const [head, tail] = [await read({ max_bytes }), await read({ mode: "sample_tail", max_bytes })];
      const size = Buffer.byteLength(text);
      for (const { content, truncated, encoding } of [head, tail]) {
        expect([truncated, encoding]).toEqual([size > max_bytes, "utf-8"]);
        expect(Buffer.byteLength(content)).toBeLessThanOrEqual(max_bytes);
        expect(Buffer.byteLength(content)).toBeGreaterThan(Math.min(size, max_bytes) - 4);
      }
      expect(text.startsWith(head.content)).toBe(true);
      expect(text.endsWith(tail.content)).toBe(true);
    }),
  );
});

test("a limit smaller than one character returns empty, truncated content", async () => {
  const read = await put("😀");
  for (const mode of ["sample_head", "sample_tail"]) {
    expect(await read({ mode, max_bytes: 3 })).toMatchObject({ content: "", truncated: true, encoding: "utf-8" });
  }
});

test("content is not reformatted", async () => {
  const read = await put('{ "a":1,\n\n "a" : 1.0 }', "application/json");
  expect(await read()).toMatchObject({ content: '{ "a":1,\n\n "a" : 1.0 }', kind: "application/json" });
});

test("binary content is base64 of exactly the requested bytes", async () => {
  const bytes = Uint8Array.of(0xff, 0xe6, 0x96, 0x87, 0x00, 0x80);
  const read = await put(bytes, "image/png");
  const content = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString("base64");
  expect(await read()).toMatchObject({ content: content(0, 6), encoding: "base64", truncated: false });
  expect(await read({ max_bytes: 3 })).toMatchObject({ content: content(0, 3), encoding: "base64", truncated: true });
  expect(await read({ mode: "sample_tail", max_bytes: 2 })).toMatchObject({ content: content(4, 6) });
});

test("full returns at most 1 MiB, regardless of max_bytes", async () => {
  for (const size of [mebibyte, mebibyte + 1]) {
    const read = await put("x".repeat(size));
    const { content, truncated } = await read({ mode: "full", max_bytes: 5 });
    expect([content.length, truncated]).toEqual([mebibyte, size > mebibyte]);
  }
});

test("max_bytes is 1 to 1 MiB", async () => {
  const read = await put("x".repeat(2 * mebibyte));
  expect((await read({ max_bytes: 1 })).content).toBe("x");
  expect((await read({ max_bytes: mebibyte })).content).toHaveLength(mebibyte);
  for (const max_bytes of [0, -1, 1.5, mebibyte + 1, "1"]) {
    expect(await refusal(read({ max_bytes }))).toMatchObject({
      code: "VALIDATION_ERROR",
      violations: [{ field: "/max_bytes", expected: "a whole number from 1 to 1048576", actual: max_bytes }],
    });
  }
});

test("another owner's blob, an unknown one and an invalid id get the same error", async () => {
  const { call } = await openTools({});
  const { blob_id } = (await call("create_blob", { content: "x", kind: "text/plain" })) as { blob_id: string };
  const refusals = [
    await refusal(call("read_blob", { blob_id }, { owner: "other" })),
    await refusal(call("read_blob", { blob_id: "blob:0000" })),
    await refusal(call("read_blob", { blob_id: "../../etc/passwd" })),
  ];
  for (const { code, message } of refusals) {
    expect([code, message]).toEqual(["BLOB_NOT_FOUND", refusals[0]?.message]);
  }
});
