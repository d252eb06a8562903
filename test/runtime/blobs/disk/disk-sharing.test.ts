import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { diskBlobs } from "../../../../src/runtime/blobs/disk-blobs.ts";
import { blobDirectories, filesIn } from "./blob-directory.ts";
import { gather } from "../gather.ts";

const newDirectory = blobDirectories();
const writingProcess = fileURLToPath(new URL("writing-process.js", import.meta.url));
const fillingProcess = fileURLToPath(new URL("filling-process.js", import.meta.url));
const holdingProcess = fileURLToPath(new URL("holding-process.js", import.meta.url));
const day = 24 * 60 * 60 * 1000;

describe("a store that several processes share", () => {
  it("keeps every blob intact while four processes put, hold, read, remove and sweep", async () => {
    const directory = newDirectory();
    const runs = Array.from({ length: 4 }, () => execa(process.execPath, [writingProcess, directory, "30"]));
    const expected = new Set<string>();
    for (const { stdout, stderr } of await Promise.all(runs)) {
      expect(stderr).toBe("");
      const words = stdout.split("\n").map((line) => JSON.parse(line) as { kept?: string; removed?: string });
      for (const { kept } of words) if (kept !== undefined) expected.add(kept);
      for (const { removed } of words) if (removed !== undefined) expected.delete(removed);
    }
    const store = diskBlobs(directory);
    const found = new Set<string>();
    let bytes = 0;
    for await (const blob of store.list()) {
      const content = await gather(store.read("me", blob.id));
      expect(createHash("sha256").update(content).digest("hex")).toBe(blob.sha256);
      found.add(blob.id);
      bytes += blob.size;
    }
    expect(found).toEqual(expected);
    expect(found.size).toBe(80);
    expect(readFileSync(path.join(directory, "v1/usage"), "utf8")).toMatch(
      new RegExp(`^${bytes} 80\\n[0-9a-f]{32} ${bytes} 80\\n$`),
    );
    await store.close();
    for (const room of ["staging", "leases", "processes"]) expect(filesIn(directory, room)).toEqual([]);
  }, 60_000);

  it("never exceeds its quota when three processes fill it concurrently", async () => {
    const directory = newDirectory();
    const fill = (): Promise<{ stdout: string; stderr: string }> =>
      execa(process.execPath, [fillingProcess, directory, "10000"]);
    const kept = (await Promise.all([fill(), fill(), fill()])).map(({ stdout, stderr }) => {
      expect(stderr).toBe("");
      return Number(stdout);
    });
    expect(kept.reduce((sum, each) => sum + each)).toBe(10_000);
  }, 60_000);

  it("does not sweep a blob held by a running process until that process is killed", async () => {
    const directory = newDirectory();
    const store = diskBlobs(directory, { diskNow: () => Date.now() + day });
    const child = execa(process.execPath, [holdingProcess, directory], { reject: false });
    const lines = child[Symbol.asyncIterator](); // Leaving a `for await` loop early would wait for the child to exit.
    const id = String((await lines.next()).value);
    expect(await store.sweep()).toMatchObject({ removed: 0, held: 1 });
    expect((await gather(store.read("me", id))).toString()).toBe("held");
    child.kill("SIGKILL");
    await child;
    expect(await store.sweep()).toMatchObject({ removed: 1, held: 0 });
    await store.close();
  }, 20_000);
});
