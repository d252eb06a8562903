import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type DiskBlobOptions, diskBlobs } from "../../../src/runtime/blobs/disk-blobs.ts";
import type { BlobStore, BlobUpkeep } from "../../../src/runtime/blobs.ts";
import { isSkillsError } from "../../../src/base/errors.ts";
import { describeBlobStore } from "../../contract/blob-store.ts";
import { blobDirectories, filesIn } from "./disk/blob-directory.ts";
import { gather, streamOf } from "./gather.ts";

const newDirectory = blobDirectories();
const day = 24 * 60 * 60 * 1000;

describeBlobStore("diskBlobs", ({ now, ...options } = {}) =>
  diskBlobs(newDirectory(), { ...options, ...(now && { diskNow: now }) }),
);

describe("diskBlobs", () => {
  it("stores identical content once, named by its digest, until its last blob is removed", () =>
    using({}, async (store, directory) => {
      const one = await store.put("me", "text/plain", Buffer.from("same"));
      const two = await store.put("you", "text/html", streamOf("sa", "me"));
      expect(contents(directory)).toEqual([objectName("same")]);
      await store.remove("me", one.id);
      expect(contents(directory)).toEqual([objectName("same")]);
      await store.remove("you", two.id);
      expect(filesIn(directory, "objects")).toEqual([]);
      expect(filesIn(directory, "records")).toEqual([]);
    }));

  it("finds its blobs when the directory is opened again", async () => {
    const directory = newDirectory();
    const first = diskBlobs(directory);
    const blob = await first.put("me", "text/plain", Buffer.from("kept"));
    await first.close();
    const second = diskBlobs(directory);
    expect(await second.stat("me", blob.id)).toEqual(blob);
    expect((await gather(second.read("me", blob.id))).toString()).toBe("kept");
    await second.close();
  });

  it("creates files and directories that only the user can access", () =>
    using({}, async (store, directory) => {
      const { id } = await store.put("me", "text/plain", Buffer.from("x"));
      await store.hold("me", id);
      const root = path.join(directory, "v1");
      const modes = readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => {
        const stats = lstatSync(path.join(root, name));
        return `${stats.isDirectory() ? "directory" : "file"} ${(stats.mode & 0o777).toString(8)}`;
      });
      expect(new Set(modes)).toEqual(new Set(["directory 700", "file 600"]));
      expect(modes.length).toBeGreaterThan(12);
    }));

  it("resolves only after files and directory entries are synced to disk", () =>
    using({}, async (store, directory) => {
      const probe = await open(directory);
      const sync = vi.spyOn(Object.getPrototypeOf(probe) as typeof probe, "sync");
      await probe.close();
      try {
        const { id } = await store.put("me", "text/plain", Buffer.from("x"));
        const [content, record, objects, records] = [1, 1, 2, 2];
        expect(sync).toHaveBeenCalledTimes(content + record + objects + records);
        await store.remove("me", id);
        expect(sync).toHaveBeenCalledTimes(content + record + 2 * (objects + records));
      } finally {
        sync.mockRestore();
      }
    }));

  it("leaves no files behind after a failed put", () =>
    using({ maxBlobBytes: 3, quotaBytes: 3 }, async (store, directory) => {
      await expect(store.put("me", "text/plain", streamOf("ab", "cd"))).rejects.toMatchObject({
        code: "BLOB_TOO_LARGE",
      });
      await store.put("me", "text/plain", Buffer.from("abc"));
      await expect(store.put("me", "text/plain", streamOf("d"))).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
      expect(filesIn(directory, "staging")).toEqual([]);
      expect(contents(directory)).toEqual([objectName("abc")]);
    }));

  it.each<[string, (file: string) => void]>([
    ["changed", (file) => writeFileSync(file, "goof")],
    ["shortened", (file) => writeFileSync(file, "goo")],
    ["lengthened", (file) => writeFileSync(file, "good!")],
    ["missing", (file) => rmSync(file)],
    [
      "a directory",
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    [
      "a link to the right bytes",
      (file) => {
        renameSync(file, `${file}.x`);
        symlinkSync(`${file}.x`, file);
      },
    ],
  ])("fails to read content that is %s", (_, damage) =>
    using({}, async (store, directory) => {
      const { id } = await store.put("me", "text/plain", Buffer.from("good"));
      expect((await gather(store.read("me", id))).toString()).toBe("good");
      damage(objectFile(directory, "good"));
      const failure = await gather(store.read("me", id, { offset: 0, length: 1 })).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "INTERNAL" });
      expect(isSkillsError(failure) && failure.message).not.toContain(directory);
    }),
  );

  it("detects bytes that change during a read", () =>
    using({}, async (store, directory) => {
      const content = "0123456789".repeat(20_000);
      const { id } = await store.put("me", "text/plain", Buffer.from(content));
      const chunks = store.read("me", id)[Symbol.asyncIterator]();
      await chunks.next();
      writeFileSync(objectFile(directory, content), content.replaceAll("9", "8"));
      utimesSync(objectFile(directory, content), 1, 1);
      await expect(gather({ [Symbol.asyncIterator]: () => chunks })).rejects.toMatchObject({ code: "INTERNAL" });
    }));

  it("lists the other blobs when a directory replaces a record, and sweeps that directory", () =>
    using({}, async (store, directory) => {
      const lost = await store.put("me", "text/plain", Buffer.from("lost"));
      const kept = await store.put("me", "text/plain", Buffer.from("kept"));
      const key = lost.id.slice("blob:".length);
      const record = path.join(directory, "v1", "records", key.slice(0, 2), key);
      rmSync(record);
      mkdirSync(record);
      const listed: string[] = [];
      for await (const { id } of store.list()) listed.push(id);
      expect(listed).toEqual([kept.id]);
      await expect(store.stat("me", lost.id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
      await store.sweep();
      expect(lstatSync(record, { throwIfNoEntry: false })).toBeUndefined();
    }));

  it("repairs damaged content when the same bytes are stored again", () =>
    using({}, async (store, directory) => {
      const { id } = await store.put("me", "text/plain", Buffer.from("good"));
      writeFileSync(objectFile(directory, "good"), "evil");
      await store.put("you", "text/plain", Buffer.from("good"));
      expect((await gather(store.read("me", id))).toString()).toBe("good");
    }));

  it("does not follow symlinks inside the store", () =>
    using({}, async (store, directory) => {
      const other = newDirectory();
      const { id } = await store.put("me", "text/plain", Buffer.from("good"));
      const shard = path.dirname(objectFile(directory, "good"));
      renameSync(shard, path.join(other, "shard"));
      symlinkSync(path.join(other, "shard"), shard);
      await expect(gather(store.read("me", id))).rejects.toMatchObject({ code: "INTERNAL" });
      await expect(store.put("me", "text/plain", Buffer.from("good"))).rejects.toMatchObject({
        code: "QUOTA_EXCEEDED",
        facts: { limit: "disk" },
      });

      const record = path.join(directory, "v1/records", filesIn(directory, "records")[0] ?? "");
      renameSync(record, path.join(other, "record"));
      symlinkSync(path.join(other, "record"), record);
      await expect(store.stat("me", id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
      await store.sweep();
      expect(readdirSync(other).sort()).toEqual(["record", "shard"]);
      expect(readdirSync(path.join(other, "shard"))).toHaveLength(2);
    }));

  it("treats a malformed record as missing and sweeps it with its content", () =>
    using({}, async (store, directory) => {
      const { id } = await store.put("me", "text/plain", Buffer.from("x"));
      const [record = ""] = filesIn(directory, "records");
      for (const damage of ["", "{", "null", "[]", '{"id":"blob:0"}']) {
        writeFileSync(path.join(directory, "v1/records", record), damage);
        await expect(store.stat("me", id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
      }
      await store.sweep();
      expect([...filesIn(directory, "records"), ...filesIn(directory, "objects")]).toEqual([]);
      expect(readFileSync(path.join(directory, "v1/usage"), "utf8")).toBe("0 0\n");
    }));

  it.each(["", "12", "12 3", "x y\n", "-1 0\n"])("recounts the usage when the usage file contains %j", (usage) =>
    using({ quotaBytes: 8 }, async (store, directory) => {
      await store.put("me", "text/plain", Buffer.from("1234"));
      writeFileSync(path.join(directory, "v1/usage"), usage);
      await store.put("me", "text/plain", Buffer.from("5678"));
      await expect(store.put("me", "text/plain", Buffer.from("9"))).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    }),
  );

  it("corrects a wrong usage file during a sweep", () =>
    using({}, async (store, directory) => {
      await store.put("me", "text/plain", Buffer.from("1234"));
      writeFileSync(path.join(directory, "v1/usage"), "999 9\n");
      await store.sweep();
      expect(readFileSync(path.join(directory, "v1/usage"), "utf8")).toMatch(/^4 1\n[0-9a-f]{32} 4 1\n$/);
    }));

  it("counts blobs of another store on the same directory toward the quota", async () => {
    const directory = newDirectory();
    const [one, two] = [diskBlobs(directory, { quotaBytes: 8 }), diskBlobs(directory, { quotaBytes: 8 })];
    const { id } = await one.put("me", "text/plain", Buffer.from("12345678"));
    await expect(two.put("me", "text/plain", Buffer.from("9"))).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    await two.remove("me", id);
    await expect(one.stat("me", id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    expect((await one.put("me", "text/plain", Buffer.from("9"))).size).toBe(1);
    await Promise.all([one.close(), two.close()]);
  });

  it("does not sweep blobs held by another store on the same directory until that store is closed", async () => {
    let now = Date.now();
    const directory = newDirectory();
    const [one, two] = [diskBlobs(directory, { diskNow: () => now }), diskBlobs(directory, { diskNow: () => now })];
    const { id } = await one.put("me", "text/plain", Buffer.from("x"));
    await one.hold("me", id);
    now += day;
    expect(await two.sweep()).toEqual({ removed: 0, freedBytes: 0, held: 1 });
    await one.close();
    expect(await two.sweep()).toEqual({ removed: 1, freedBytes: 1, held: 0 });
    await two.close();
    expect(filesIn(directory, "leases")).toEqual([]);
    expect(filesIn(directory, "processes")).toEqual([]);
  });

  it.runIf(process.getuid !== undefined)("rejects a directory that other users can write to", () => {
    const directory = newDirectory();
    chmodSync(directory, 0o777);
    return expect(diskBlobs(directory).put("me", "text/plain", Buffer.from("x"))).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      message: expect.stringContaining("writable by other users") as string,
      facts: { limit: "disk" },
    });
  });

  it("creates a missing directory with access for the user only", async () => {
    const directory = path.join(newDirectory(), "a/b");
    const store = diskBlobs(directory);
    await store.put("me", "text/plain", Buffer.from("x"));
    await store.close();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it("rejects a file or a symlink in place of its directory", async () => {
    const file = path.join(newDirectory(), "file");
    writeFileSync(file, "");
    const put = (directory: string): Promise<unknown> => diskBlobs(directory).put("me", "text/plain", Buffer.from("x"));
    await expect(put(file)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED", facts: { limit: "disk" } });
    const directory = newDirectory();
    symlinkSync(newDirectory(), path.join(directory, "v1"));
    await expect(put(directory)).rejects.toThrow(/v1 in their directory is not a directory/);
  });
});

type Check = (store: BlobStore & BlobUpkeep, directory: string) => Promise<void>;

async function using(options: DiskBlobOptions, check: Check): Promise<void> {
  const directory = newDirectory();
  const store = diskBlobs(directory, options);
  try {
    await check(store, directory);
  } finally {
    await store.close();
  }
}

function objectName(content: string): string {
  const digest = createHash("sha256").update(content).digest("hex");
  return path.join(digest.slice(0, 2), digest.slice(2));
}

function objectFile(directory: string, content: string): string {
  return path.join(directory, "v1/objects", objectName(content));
}

/** The stored content files, without the references to them. */
function contents(directory: string): string[] {
  return filesIn(directory, "objects").filter((name) => !name.includes("."));
}
