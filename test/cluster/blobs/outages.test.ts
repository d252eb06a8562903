import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openClusterBlobs } from "../../../src/cluster/blobs.ts";
import { DatabaseError } from "../../../src/cluster/database/database-error.ts";
import type { Database } from "../../../src/cluster/database.ts";
import type { BlobStore, BlobUpkeep } from "../../../src/runtime/blobs.ts";
import { type ManualClock, manualClock } from "../../manual-clock.ts";
import { gather, streamOf } from "../../runtime/blobs/gather.ts";
import { openPglite } from "../pglite-database.ts";
import { emptied } from "./emptied-database.ts";

describe("blobs of a cluster whose database fails", () => {
  let pglite: Database;
  let store: BlobStore & BlobUpkeep;
  let clock: ManualClock;
  let warnings: string[];
  /** What each statement and transaction rejects with. */
  let fault: DatabaseError | undefined;
  const failing = (work: Database): Database => ({
    ...work,
    query: async (...given) => (fault ? await Promise.reject(fault) : await work.query(...given)),
    transaction: async (each) => (fault ? await Promise.reject(fault) : await work.transaction(each)),
    readBytes: async (...given) => (fault ? await Promise.reject(fault) : await work.readBytes(...given)),
  });
  const outage = new DatabaseError("Connection terminated", { cause: undefined, state: "", isOutage: true });
  const full = new DatabaseError("could not extend file", { cause: undefined, state: "53100", isOutage: true });
  const count = async (table: string): Promise<number> =>
    (await pglite.query(`select from acp_skills.${table}`)).length;

  beforeAll(async () => {
    pglite = await openPglite();
  }, 60_000);
  afterAll(async () => await pglite.close());
  beforeEach(() => {
    [clock, fault, warnings] = [manualClock(), undefined, []];
    store = openClusterBlobs(failing(emptied(pglite)), { clock, log: (_, message) => warnings.push(message) });
  });
  afterEach(async () => {
    fault = undefined;
    await store.close();
  });

  test("are refused as busy, each with a sentence, and are there again afterwards", async () => {
    const { id } = await store.put("me", "a/b", Buffer.from("x"));
    fault = outage;
    const sentence = (doing: string): object => ({
      code: "RUNTIME_BUSY",
      message: `Blobs cannot be ${doing} at the moment: the database of the cluster cannot be reached.`,
    });
    await expect(store.put("me", "a/b", Buffer.from("y"))).rejects.toMatchObject(sentence("stored"));
    await expect(store.stat("me", id)).rejects.toMatchObject(sentence("read"));
    await expect(gather(store.read("me", id))).rejects.toMatchObject(sentence("read"));
    await expect(store.hold("me", id)).rejects.toMatchObject(sentence("stored"));
    await expect(store.remove("me", id)).rejects.toMatchObject(sentence("removed"));
    await expect(store.sweep()).rejects.toMatchObject(sentence("removed"));
    fault = undefined;
    expect((await gather(store.read("me", id))).toString()).toBe("x");
  });

  test("are refused with the full disk as the reason", async () => {
    fault = full;
    await expect(store.put("me", "a/b", Buffer.from("y"))).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      message: "Blobs cannot be stored: the disk of the cluster's database is full.",
      facts: { limit: "disk" },
    });
  });

  test("leave nothing of a put that failed while the database was away", async () => {
    async function* interrupted(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.alloc(3 * 1024 * 1024));
      fault = outage;
    }
    await expect(store.put("me", "a/b", interrupted())).rejects.toMatchObject({ code: "RUNTIME_BUSY" });
    expect(await count("blob_chunks")).toBeGreaterThan(0);
    fault = undefined;
    await store.sweep();
    expect([await count("blob_uploads"), await count("blob_chunks")]).toEqual([0, 0]);
  });

  test("are held again when others have ended the lease meanwhile, and released where that failed", async () => {
    const [one, two] = [await store.put("me", "a/b", streamOf("one")), await store.put("me", "a/b", streamOf("two"))];
    const release = await store.hold("me", one.id);
    await store.hold("me", two.id);
    await pglite.query("delete from acp_skills.blob_holders");
    expect(await count("blob_holds")).toBe(0);
    clock.pass(20_000);
    await expect.poll(async () => await count("blob_holds")).toBe(2);
    fault = outage;
    await release();
    clock.pass(20_000);
    await expect.poll(() => warnings).toEqual([expect.stringContaining("were not renewed")]);
    fault = undefined;
    clock.pass(20_000);
    await expect
      .poll(async () => await pglite.query("select blob from acp_skills.blob_holds"))
      .toEqual([{ blob: two.id }]);
    // The first hold after a lost lease begins another one.
    await pglite.query("delete from acp_skills.blob_holders");
    await store.hold("me", one.id);
    await expect.poll(async () => await count("blob_holds")).toBe(2);
    await store.close();
    expect([await count("blob_holders"), await count("blob_holds")]).toEqual([0, 0]);
  });
});
