import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDeferred } from "../../../src/base/promises.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { type ClusterBlobOptions, openClusterBlobs } from "../../../src/cluster/blobs.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../../src/cluster/database.ts";
import type { BlobStore, BlobUpkeep } from "../../../src/runtime/blobs.ts";
import { gather, streamOf } from "../../runtime/blobs/gather.ts";
import { type PostgresServer, postgresFault, startPostgres } from "../postgres.ts";

const program = fileURLToPath(new URL("putting-process.js", import.meta.url));
const mebibyte = 1024 * 1024;

describe.skipIf(postgresFault())("blobs of several processes", () => {
  let server: PostgresServer;
  let url: string;
  let database: Database;
  const opened: (BlobStore & BlobUpkeep)[] = [];
  const open = (options: ClusterBlobOptions = {}): BlobStore & BlobUpkeep => {
    const store = openClusterBlobs(database, options);
    opened.push(store);
    return store;
  };
  const count = async (table: string): Promise<number> => {
    const [row] = await database.query<{ count: number }>(`select count(*)::float8 as count from acp_skills.${table}`);
    return row?.count ?? -1;
  };
  const usage = async (): Promise<unknown> =>
    await database.query(
      `select owner = '' as total, bytes::float8 as bytes, blobs::float8 as blobs from acp_skills.blob_usage order by 1`,
    );
  const endLeases = (): Promise<unknown> =>
    database.query("update acp_skills.blob_holders set lease_until = now() - interval '1 second'");

  beforeAll(async () => {
    server = await startPostgres();
    url = await server.newDatabase();
    database = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock });
  }, 60_000);
  afterAll(async () => {
    for (const store of opened) await store.close();
    await database.close();
    server.stop();
  });

  test("are whole or absent, and all that was acknowledged is there, whenever the processes are killed", async () => {
    const acknowledged = new Map<string, string>();
    const removing = new Set<string>();
    for (let kills = 0; kills < 30; kills += 3) {
      const processes = [start("buffer"), start("stream"), start("stream")];
      await Promise.all(processes.map((one) => one.afterPuts(randomInt(1, 8))));
      for (const one of processes) one.child.kill("SIGKILL");
      await Promise.all(processes.map((one) => one.ended));
      for (const line of processes.flatMap((one) => one.lines())) {
        const [verb, id = "", sha256 = ""] = line.split(" ");
        if (verb === "put") acknowledged.set(id, sha256);
        else removing.add(id);
      }
    }
    expect(acknowledged.size).toBeGreaterThan(30);
    const store = open();
    // While they can be alive, what they write is not removed.
    await store.sweep();
    await endLeases();
    await store.sweep();
    const found = new Set<string>();
    let bytes = 0;
    for await (const { id, sha256, size } of store.list()) {
      const content = await gather(store.read("me", id));
      expect([createHash("sha256").update(content).digest("hex"), content.length]).toEqual([sha256, size]);
      found.add(id);
      bytes += size;
    }
    for (const id of acknowledged.keys()) if (!removing.has(id)) expect(found).toContain(id);
    // What was put but not answered may be there; everything else is gone.
    expect(await usage()).toEqual([
      { total: false, bytes, blobs: found.size },
      { total: true, bytes, blobs: found.size },
    ]);
    expect(await count("blob_uploads")).toBe(await count("blob_contents"));
    const [chunks] = await database.query<{ found: number; needed: number }>(
      `select (select count(*) from acp_skills.blob_chunks)::float8 as found,
         sum(ceil(size / ${mebibyte}.0))::float8 as needed from acp_skills.blob_uploads`,
    );
    expect(chunks?.found).toBe(chunks?.needed);
    for (const id of found) await store.remove("me", id);
    expect([await count("blob_uploads"), await count("blob_chunks"), await count("blob_contents")]).toEqual([0, 0, 0]);
  }, 180_000);

  test("with equal bytes, put and removed by several at the same time, are read as they were put", async () => {
    const stores = Array.from({ length: 4 }, () => open());
    const content = randomBytes(2 * mebibyte + 1);
    await Promise.all(
      stores.map(async (store, number) => {
        for (let round = 0; round < 12; round++) {
          const blob = await store.put(`owner ${number}`, "a/b", round % 2 === 0 ? content : streamOf(content));
          expect((await gather(store.read(`owner ${number}`, blob.id))).equals(content)).toBe(true);
          await store.remove(`owner ${number}`, blob.id);
          if (round % 4 === 0) await store.sweep();
        }
      }),
    );
    await open().sweep();
    expect(await count("blob_contents")).toBe(0);
    await expect.poll(async () => await count("blob_uploads")).toBe(0);
    expect(await usage()).toEqual([{ total: true, bytes: 0, blobs: 0 }]);
  }, 120_000);

  test("are stored once where their bytes are equal", async () => {
    const [one, two] = [open(), open()];
    const content = randomBytes(mebibyte + 1);
    const ids = await Promise.all(
      [one, two, one, two].map(async (store) => (await store.put("me", "a/b", content)).id),
    );
    expect([await count("blobs"), await count("blob_contents")]).toEqual([4, 1]);
    await expect.poll(async () => [await count("blob_uploads"), await count("blob_chunks")]).toEqual([1, 2]);
    for (const id of ids) await one.remove("me", id);
    expect(await count("blob_chunks")).toBe(0);
  });

  test("never exceed a limit, of an owner or of all, however many put at the same time", async () => {
    const limits = { ownerQuotaBytes: 3_000, quotaBytes: 8_000, maxBlobs: 1_000 };
    const stores = Array.from({ length: 4 }, () => open(limits));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 80 }, (_, number) =>
        (stores[number % 4] ?? open()).put(`owner ${number % 5}`, "a/b", randomBytes(number % 3 === 0 ? 500 : 499)),
      ),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as Error] : []));
    for (const reason of refused) expect(reason).toMatchObject({ code: "QUOTA_EXCEEDED" });
    const used = new Map<string, number>();
    for await (const { owner, size } of open().list()) used.set(owner, (used.get(owner) ?? 0) + size);
    for (const bytes of used.values()) expect(bytes).toBeLessThanOrEqual(3_000);
    const total = [...used.values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(total).toBeLessThanOrEqual(8_000);
    expect(total).toBeGreaterThan(8_000 - 500);
    const store = open();
    for await (const { owner, id } of store.list()) await store.remove(owner, id);
  }, 60_000);

  test("are read to their end by whoever began, although another process removes and sweeps them", async () => {
    const [reader, remover] = [open({ maxBlobBytes: 64 * mebibyte }), open({ maxBlobBytes: 64 * mebibyte })];
    const content = randomBytes(40 * mebibyte);
    const { id } = await reader.put("me", "a/b", content);
    const pieces = reader.read("me", id)[Symbol.asyncIterator]();
    const first = (await pieces.next()).value as Uint8Array;
    await remover.remove("me", id);
    await remover.sweep();
    await expect(gather(remover.read("me", id))).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    const rest = await gather({ [Symbol.asyncIterator]: () => pieces });
    expect(Buffer.concat([first, rest]).equals(content)).toBe(true);
    await remover.sweep();
    expect(await count("blob_chunks")).toBe(0);
  }, 60_000);

  test("that take longer than the lease of their process are refused, and never halved", async () => {
    const [writing, sweeping] = [open(), open()];
    const slow = createDeferred();
    const put = writing.put("me", "a/b", stalling());
    await expect.poll(async () => await count("blob_chunks")).toBe(2);
    await sweeping.sweep();
    expect(await count("blob_chunks")).toBe(2);
    await endLeases();
    await sweeping.sweep();
    expect([await count("blob_chunks"), await count("blob_uploads")]).toEqual([0, 0]);
    slow.resolve();
    await expect(put).rejects.toMatchObject({ code: "RUNTIME_BUSY" });
    expect([await count("blobs"), await count("blob_chunks")]).toEqual([0, 0]);

    async function* stalling(): AsyncGenerator<Uint8Array> {
      yield randomBytes(2 * mebibyte);
      await slow.promise;
      yield randomBytes(2 * mebibyte);
    }
  });

  test("do not expire while a process holds them that renews its lease, and do when it does not", async () => {
    let now = 1_000_000;
    const [holding, sweeping] = [open({ now: () => now, ttlMs: 1 }), open({ now: () => now, ttlMs: 1 })];
    const { id } = await holding.put("me", "a/b", Buffer.from("x"));
    await holding.hold("me", id);
    now += 1;
    expect(await sweeping.sweep()).toMatchObject({ removed: 0, held: 1 });
    await endLeases();
    await sweeping.sweep();
    expect(await sweeping.sweep()).toMatchObject({ removed: 1, held: 0 });
  });

  function start(mode: string): {
    readonly child: ChildProcess;
    readonly ended: Promise<unknown>;
    afterPuts(count: number): Promise<void>;
    lines(): readonly string[];
  } {
    const child = spawn(process.execPath, [program, url, mode], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    let check = (): void => undefined;
    child.stdout.on("data", (chunk: Buffer) => {
      said += String(chunk);
      check();
    });
    // Complete lines only: the last one may be cut.
    const lines = (): readonly string[] => said.split("\n").slice(0, -1);
    return {
      child,
      ended: once(child, "close"),
      lines,
      afterPuts: (puts) =>
        new Promise((resolve, reject) => {
          child.once("exit", () => reject(new Error("The process ended by itself.")));
          check = () => lines().filter((line) => line.startsWith("put")).length >= puts && resolve();
        }),
    };
  }
});
