import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { diskBlobs } from "../../../../src/runtime/blobs/disk-blobs.ts";
import type { BlobStore, BlobUpkeep } from "../../../../src/runtime/blobs.ts";
import { diskLedger } from "../../../../src/runtime/ledger/disk-ledger.ts";
import { readAll, use } from "../../../contract/ledger.ts";
import { blobDirectories, filesIn } from "./blob-directory.ts";
import { gather } from "../gather.ts";

const newDirectory = blobDirectories();
/** Mounts a private file system in user and mount namespaces, where the system allows them to ordinary users. */
const apart = ["--map-root-user", "--mount"];
const canMount = spawnSync("unshare", [...apart, "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

describe("a data directory that cannot be used", () => {
  it.runIf(canMount)(
    "reports a full or read-only disk, allows blobs to be removed, and recovers without a restart",
    () => {
      const program = fileURLToPath(new URL("small-disk-process.js", import.meta.url));
      const script = 'mount -t tmpfs -o size=256k,mode=700 none "$1" && exec "$2" "$3" "$1"';
      const args = [...apart, "sh", "-c", script, "sh", newDirectory(), process.execPath, program];
      const { stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8" });
      expect(stderr).toBe("");
      const readOnly = expect.stringContaining("cannot be removed: the file system is read-only.") as string;
      expect(JSON.parse(stdout)).toEqual({
        putWhenFull: {
          code: "QUOTA_EXCEEDED",
          message: "Blobs cannot be stored: the disk is full.",
          limit: "disk",
          hint: expect.stringContaining("acp-skills blobs sweep") as string,
        },
        loggedWhenFull: [
          expect.stringMatching(/^Uses of skills cannot be recorded in .*(ENOSPC|only a part of the line)/),
        ],
        listWhenFull: 3,
        showWhenFull: 2_000,
        sweepWhenFull: { status: 0, stdout: "0 blobs removed, 0 bytes freed\n", stderr: "" },
        removeWhenFull: { status: 0, stdout: "", stderr: "" },
        putWhenThereIsRoom: "done",
        putWhenReadOnly: {
          code: "QUOTA_EXCEEDED",
          message: "Blobs cannot be stored: the file system is read-only.",
          limit: "disk",
          hint: expect.any(String) as string,
        },
        statWhenReadOnly: "done",
        showWhenReadOnly: 2_000,
        removeWhenReadOnly: { status: 3, stdout: "", stderr: readOnly },
        sweepWhenReadOnly: { status: 3, stdout: "", stderr: readOnly },
        putWhenWritable: "done",
        loggedWhenReadOnly: [expect.stringContaining("EROFS")],
        uses: ["before", "after", "writable"],
      });
    },
    60_000,
  );

  it("is created again after it was deleted, and stores new blobs and ledger entries", async () => {
    const directory = newDirectory();
    const store = diskBlobs(path.join(directory, "data", "blobs"));
    const ledger = diskLedger(path.join(directory, "data", "ledger"), { log: () => undefined });
    const lost = await put(store, "lost");
    await store.hold("me", lost.id);
    ledger.record(use(1));
    rmSync(path.join(directory, "data"), { recursive: true });
    await expect(store.stat("me", lost.id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    expect(await everything(store)).toEqual([]);
    expect(await store.sweep()).toEqual({ removed: 0, freedBytes: 0, held: 0 });
    const { id } = await put(store, "new");
    ledger.record(use(2));
    expect((await gather(store.read("me", id))).toString()).toBe("new");
    expect(await readAll(ledger)).toEqual([use(2)]);
    await store.close();
    ledger.close();
    for (const room of ["staging", "leases", "processes"])
      expect(filesIn(path.join(directory, "data", "blobs"), room)).toEqual([]);
  });

  it("finds its blobs again after the directory was moved away and back", async () => {
    const directory = newDirectory();
    const [data, away] = [path.join(directory, "data"), path.join(directory, "away")];
    const store = diskBlobs(data);
    const { id } = await put(store, "kept");
    renameSync(data, away);
    await expect(store.stat("me", id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    renameSync(away, data);
    expect((await gather(store.read("me", id))).toString()).toBe("kept");
    await store.remove("me", id);
    await store.close();
  });

  it("reports that a file is in its place, and works once the file is removed", async () => {
    const directory = newDirectory();
    const data = path.join(directory, "data");
    writeFileSync(data, "");
    const store = diskBlobs(path.join(data, "blobs"));
    const refusal = { code: "QUOTA_EXCEEDED", facts: { limit: "disk" } };
    await expect(put(store, "x")).rejects.toMatchObject(refusal);
    await expect(put(store, "x")).rejects.toThrow("Blobs cannot be stored: a file is in the place of their directory.");
    rmSync(data);
    expect(await put(store, "x")).toMatchObject({ size: 1 });
    await store.close();
  });

  it.runIf(process.platform === "linux" && process.getuid?.() !== 0)(
    "reports missing write permission, and still reads stored blobs",
    async () => {
      const directory = path.join(newDirectory(), "blobs");
      mkdirSync(directory, { mode: 0o700 });
      const store = diskBlobs(directory);
      const { id } = await put(store, "kept");
      chmodSync(path.join(directory, "v1", "staging"), 0o500);
      await expect(put(store, "x")).rejects.toMatchObject({ code: "QUOTA_EXCEEDED", facts: { limit: "disk" } });
      expect((await gather(store.read("me", id))).toString()).toBe("kept");
      chmodSync(path.join(directory, "v1", "staging"), 0o700);
      await put(store, "x");
      await store.close();
    },
  );

  it("is not named in error messages", async () => {
    const directory = newDirectory();
    writeFileSync(path.join(directory, "file"), "");
    const store = diskBlobs(path.join(directory, "file", "blobs"));
    const error: unknown = await put(store, "x").catch((refusal: unknown) => refusal);
    expect((error as Error).message).not.toContain(directory);
  });
});

const put = (store: BlobStore, content: string): ReturnType<BlobStore["put"]> =>
  store.put("me", "text/plain", Buffer.from(content));

async function everything(store: BlobUpkeep): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const blob of store.list()) all.push(blob);
  return all;
}
