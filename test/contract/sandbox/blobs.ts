import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { blobOf, codeRun, python } from "./runs.ts";
import type { Trial } from "./tier.ts";

/** Blobs as input, and blobs and files in `/output` as output. */
export function describeBlobs(trial: Trial): void {
  const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  const big = randomBytes(8 * 1024 * 1024);

  describe("blobs", trial.together, () => {
    it("are readable through runtime and as files, by id with or without blob:", () => {
      const code = python`
        import os
        from runtime import blobs

        def main(args):
            id = args["id"]
            texts = [blobs.read_text(id), blobs.read_bytes(id).decode(), blobs.open(id).read(), open(blobs.path(id)).read()]
            texts = [text if isinstance(text, str) else text.decode() for text in texts]
            files = [open("/blobs/" + name).read() for name in (id, id[5:])]
            return [texts, files, blobs.info(id), len(blobs.list())]
      `;
      const blobs = [blobOf("blob:a.b-c_1", "text of the blob")];
      return trial.run(codeRun(code, { blobs, args: { id: "blob:a.b-c_1" } }), ({ end }) => {
        const text = "text of the blob";
        const info = { id: "blob:a.b-c_1", kind: "text/plain", size_bytes: 16 };
        expect(end).toMatchObject({
          type: "returned",
          value: [[text, text, text, text], [text, text], info, 1],
        });
      });
    });

    it("of large size are passed in and out intact", () => {
      const code = python`
        import hashlib
        from runtime import blobs

        def main(args):
            data = blobs.read_bytes("blob:big")
            with open("/output/turned.bin", "wb") as file:
                file.write(data[::-1])
            return [hashlib.sha256(data).hexdigest(), blobs.create(data, kind="application/octet-stream")]
      `;
      const limits = { diskBytes: 32 * 1024 * 1024 };
      return trial.run(codeRun(code, { blobs: [blobOf("blob:big", big)], limits }), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: [digest(big), "blob:made-1"] });
        expect(host.blobs.map(({ content }) => digest(content))).toEqual([digest(big)]);
        expect(digest(host.outputs.get("turned.bin") ?? Buffer.of())).toBe(digest(Buffer.from(big).reverse()));
      });
    });

    it.skipIf(trial.tier.isolates === false)("are read-only", () => {
      const code = python`
        import os

        def main():
            for act in (
                lambda: open("/blobs/blob:b", "w"),
                lambda: open("/blobs/new", "w"),
                lambda: os.remove("/blobs/blob:b"),
                lambda: os.chmod("/blobs/blob:b", 0o777),
                lambda: os.utime("/blobs/blob:b", (0, 0)),
                lambda: os.truncate("/blobs/blob:b", 0),
            ):
                try:
                    act()
                    return "possible"
                except OSError:
                    pass
            return open("/blobs/b").read()
      `;
      return trial.run(codeRun(code, { blobs: [blobOf("blob:b", "same")] }), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: "same" }),
      );
    });

    it("that the host refuses raise an exception in the program", () => {
      const code = python`
        import runtime

        def main():
            try:
                runtime.blobs.create("x", kind="text/plain")
            except Exception as error:
                return str(error)
      `;
      return trial.run(
        codeRun(code),
        ({ end }) => expect(end).toMatchObject({ type: "returned", value: expect.stringContaining("quota") as string }),
        { answers: { createBlob: () => Promise.reject(new Error("The quota is used up.")) } },
      );
    });

    it("created before a failure are stored", () =>
      trial.run(
        codeRun("import runtime\ndef main():\n    runtime.blobs.create(b'kept', kind='a/b')\n    raise ValueError\n"),
        ({ end, host }) => {
          expect(end.type).toBe("raised");
          expect(host.blobs.map(({ content }) => content.toString())).toEqual(["kept"]);
        },
      ));
  });

  describe("files in /output", trial.together, () => {
    it("are returned with path and content, including empty and nested ones", () => {
      const code = python`
        import os

        def main():
            os.makedirs("/output/a/b c/ä")
            os.makedirs("/output/empty/directory")
            for path, data in {"zero": b"", "a/b c/ä/ü.bin": bytes(range(256)), ".hidden": b"h"}.items():
                with open("/output/" + path, "wb") as file:
                    file.write(data)
      `;
      return trial.run(codeRun(code), ({ end, host }) => {
        expect(end.type).toBe("returned");
        expect([...host.outputs.keys()].sort()).toEqual([".hidden", "a/b c/ä/ü.bin", "zero"]);
        expect(host.outputs.get("a/b c/ä/ü.bin")).toEqual(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
        expect(host.outputs.get("zero")).toEqual(Buffer.of());
      });
    });

    it("are stored when the program fails", () =>
      trial.run(
        codeRun("def main():\n    open('/output/a', 'w').write('x')\n    raise ValueError\n"),
        ({ end, host }) => {
          expect(end.type).toBe("raised");
          expect([...host.outputs.keys()]).toEqual(["a"]);
        },
      ));

    it("do not exceed the limit", () => {
      const code = "def main():\n    for n in range(50):\n        open(f'/output/{n}', 'w').close()\n";
      return trial.run(codeRun(code, { limits: { outputFiles: 10 } }), ({ host }) =>
        expect(host.outputs.size).toBeLessThanOrEqual(10),
      );
    });
  });
}
