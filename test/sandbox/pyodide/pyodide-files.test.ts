import { Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { filesOf, sendFiles } from "../../../src/sandbox/pyodide/pyodide-files.ts";
import type { MountedFile } from "../../../src/sandbox/sandbox.ts";

async function* pieces(...content: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of content) yield await Promise.resolve(Buffer.from(piece));
}

function file(path: string, content = ""): MountedFile {
  return { path, size: Buffer.byteLength(content), read: () => pieces(content) };
}

function collector(): { stream: Writable; written: Buffer[] } {
  const written: Buffer[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _encoding, done) {
      written.push(piece);
      setImmediate(done);
    },
  });
  return { stream, written };
}

describe("the files of a run in the pyodide tier", () => {
  it("have the documented paths, and blobs have two names", () => {
    const blob = { id: "blob:b1", kind: "text/plain", size: 0, read: () => pieces() };
    const files = filesOf({ skills: [{ name: "a.b", files: [file("code/main.py")] }], blobs: [blob] });
    expect(files.map(({ path, alias }) => [path, alias])).toEqual([
      ["/skills/a.b/code/main.py", undefined],
      ["/blobs/blob:b1", "/blobs/b1"],
    ]);
  });

  it("never have a path outside their skill, whatever their names", () => {
    const name = fc.string({ unit: fc.constantFrom("a", ".", "/", "\\", "\0", "é"), maxLength: 12 });
    fc.assert(
      fc.property(name, name, (skill, path) => {
        let files;
        try {
          files = filesOf({ skills: [{ name: skill, files: [file(path)] }], blobs: [] });
        } catch {
          return;
        }
        const [laid] = files;
        const segments = laid?.path.split("/").slice(1) ?? [];
        expect(segments.slice(0, 2)).toEqual(["skills", skill]);
        expect(segments).not.toContain("..");
        expect(segments).not.toContain(".");
        expect(segments).not.toContain("");
      }),
    );
  });

  it.each([
    ["the same path twice", [file("a"), file("a")]],
    ["a file where another needs a directory", [file("a"), file("a/b")]],
    ["a directory where another needs a file", [file("a/b/c"), file("a/b")]],
    ["a path that is too long", [file(Array.from({ length: 30 }, () => "n".repeat(200)).join("/"))]],
  ])("are rejected if there is %s", (_what, files) => {
    expect(() => filesOf({ skills: [{ name: "s", files }], blobs: [] })).toThrow(/./);
  });

  it("are sent completely, as frames, to a slow reader", async () => {
    const { stream, written } = collector();
    const long = { path: "f", size: 6, read: () => pieces("abc", "def") };
    await sendFiles(stream, filesOf({ skills: [{ name: "s", files: [long] }], blobs: [] }));
    await new Promise((resolve) => stream.end(resolve));
    const bytes = Buffer.concat(written);
    const header = bytes.subarray(4, 4 + bytes.readUInt32BE());
    expect(JSON.parse(header.toString())).toEqual({ type: "file", path: "/skills/s/f", bytes: 6 });
    expect(bytes.subarray(4 + header.length).toString()).toBe("abcdef");
  });

  it("are rejected if the process has exited", async () => {
    const { stream } = collector();
    stream.destroy();
    const files = filesOf({ skills: [{ name: "s", files: [file("f", "content")] }], blobs: [] });
    await expect(sendFiles(stream, files)).rejects.toThrow("exited before");
  });
});
