import fc from "fast-check";
import { expect, test } from "vitest";
import { readPackRequest, toAdvertisement, toPackStart } from "../../../src/serve/publish/plugins.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";
const line = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;
const read = (body: string): ReturnType<typeof readPackRequest> => readPackRequest(Buffer.from(body, "latin1"));
const startOf = (body: string): string => Buffer.from(toPackStart(read(body)!)).toString();

test("advertises one branch, which is HEAD", () => {
  const text = Buffer.from(toAdvertisement(commit)).toString();
  expect(text.startsWith("001e# service=git-upload-pack\n0000")).toBe(true);
  expect(text.endsWith(`003d${commit} refs/heads/main\n0000`)).toBe(true);
  expect(text).toContain(`${commit} HEAD\0shallow `);
});

test("a clone is answered with NAK before the pack, a shallow one after a flush", () => {
  const want = line(`want ${commit} agent=git/2\n`);
  expect(read(`${want}0000${line("done\n")}`)).toEqual({
    wants: [commit],
    isShallow: false,
    hasCommits: false,
    isDone: true,
  });
  expect(startOf(`${want}0000${line("done\n")}`)).toBe("0008NAK\n");
  expect(startOf(`${want}${line("deepen 1\n")}0000${line("done\n")}`)).toBe("00000008NAK\n");
  expect(startOf(`${want}${line("deepen 1\n")}0000`)).toBe("0000");
  expect(startOf(`${want}0000${line(`have ${commit}\n`)}0000`)).toBe("0008NAK\n");
});

test.each(["", "0000", "zzzz", "0003", "0010want", "ffffwant x", "0009done\n"])("%j is no request", (body) => {
  expect(read(body)).toBeUndefined();
});

test("reads any bytes without throwing", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("0", "1", "9", "a", "f", "want ", "done", "\n", "é") }), (body) => {
      const request = read(body);
      if (request !== undefined) expect(request.wants.length).toBeGreaterThan(0);
    }),
  );
});
