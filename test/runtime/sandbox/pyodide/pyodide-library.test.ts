import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureLibrary } from "../../../../src/runtime/sandbox/pyodide/pyodide-sandbox.ts";

const inside = fileURLToPath(new URL("../../../../src/runtime/sandbox/inside/", import.meta.url));
const key = { deno: "deno 2", pyodide: "1", inside };
let cache = "";
let made = 0;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "acp-skills-library-"));
  made = 0;
});
afterEach(() => {
  rmSync(cache, { recursive: true });
});

function make(): Promise<Buffer> {
  made += 1;
  return Promise.resolve(Buffer.from(`library ${made}`));
}

describe("the compiled library", () => {
  it("is compiled once and reused", async () => {
    const first = await ensureLibrary(cache, key, make);
    expect(await ensureLibrary(cache, key, make)).toBe(first);
    expect(made).toBe(1);
    expect(readFileSync(first).subarray(0, -32).toString()).toBe("library 1");
  });

  it.each([
    ["deno", { ...key, deno: "deno 3" }],
    ["pyodide", { ...key, pyodide: "2" }],
  ])("is compiled again for another version of %s", async (_what, other) => {
    const first = await ensureLibrary(cache, key, make);
    expect(await ensureLibrary(cache, other, make)).not.toBe(first);
  });

  it("is compiled again if the cached file was modified or truncated", async () => {
    const file = await ensureLibrary(cache, key, make);
    const content = readFileSync(file);
    for (const broken of [
      content.subarray(0, -1),
      content.map((byte, at) => (at === 3 ? byte ^ 1 : byte)),
      Buffer.alloc(0),
    ]) {
      writeFileSync(file, broken);
      await ensureLibrary(cache, key, make);
      expect(readFileSync(file).subarray(0, -32).toString()).toBe(`library ${made}`);
    }
    expect(made).toBe(4);
  });

  it.runIf(process.platform !== "win32")("is compiled again if other users can write to the cached file", async () => {
    chmodSync(await ensureLibrary(cache, key, make), 0o622);
    await ensureLibrary(cache, key, make);
    expect(made).toBe(2);
  });

  it("leaves no partial files behind", async () => {
    await expect(ensureLibrary(cache, key, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await Promise.all([ensureLibrary(cache, key, make), ensureLibrary(cache, key, make)]);
    expect(readdirSync(cache)).toHaveLength(1);
  });
});
