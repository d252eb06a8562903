import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BlobStore, BlobUpkeep, ListedBlob } from "../../src/runtime/blobs.ts";
import type { MemoryBlobOptions } from "../runtime/blobs/memory-blobs.ts";
import { gather, streamOf } from "../runtime/blobs/gather.ts";

type Store = BlobStore & BlobUpkeep;

const day = 24 * 60 * 60 * 1000;
const text = "text/plain";

/** The contract of `BlobStore`, run by every adapter. Each call of `open` returns an empty store; the caller removes it. */
export function describeBlobStore(adapter: string, open: (options?: MemoryBlobOptions) => Store): void {
  const using = async (options: MemoryBlobOptions, check: (store: Store) => Promise<void>): Promise<void> => {
    const store = open(options);
    try {
      await check(store);
    } finally {
      await store.close();
    }
  };

  describe(`${adapter} implements the BlobStore contract`, () => {
    it("returns stored content with its size, kind and digest", () =>
      using({}, async (store) => {
        const blob = await store.put("me", "text/plain; charset=utf-8", Buffer.from("grüße"));
        expect(blob).toEqual({ id: blob.id, size: 7, kind: "text/plain; charset=utf-8", sha256: sha256("grüße") });
        expect(await store.stat("me", blob.id)).toEqual(blob);
        expect((await gather(store.read("me", blob.id))).toString()).toBe("grüße");
      }));

    it("assigns unique ids in the documented format", () =>
      using({}, async (store) => {
        const ids = await Promise.all(Array.from({ length: 20 }, async () => (await put(store, "same")).id));
        expect(new Set(ids).size).toBe(20);
        for (const id of ids) expect(id).toMatch(/^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
        for (const id of ids) expect(id.length - "blob:".length).toBeGreaterThanOrEqual(80 / 4);
      }));

    it("stores empty content", () =>
      using({}, async (store) => {
        const bytes = await store.put("me", text, new Uint8Array());
        const stream = await store.put("me", text, streamOf());
        expect([bytes.size, stream.size]).toEqual([0, 0]);
        expect(await gather(store.read("me", bytes.id))).toHaveLength(0);
        expect(await gather(store.read("me", stream.id, { offset: 0, length: 10 }))).toHaveLength(0);
      }));

    it("copies its input, so that reusing a buffer does not change a stored blob", () =>
      using({}, async (store) => {
        const bytes = Buffer.from("first");
        const one = await store.put("me", text, bytes);
        bytes.fill("x");
        const two = await store.put("me", text, reused());
        for await (const chunk of store.read("me", one.id)) chunk.fill(0);
        expect((await gather(store.read("me", one.id))).toString()).toBe("first");
        expect((await gather(store.read("me", two.id))).toString()).toBe("aabbcc");

        async function* reused(): AsyncGenerator<Uint8Array> {
          const memory = Buffer.alloc(2);
          for (const letter of "abc") yield await Promise.resolve(memory.fill(letter));
        }
      }));

    it("reads any range of content that was stored in chunks", () =>
      using({ maxBlobs: 1000 }, async (store) => {
        const pieces = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 });
        const range = fc.record({ offset: fc.nat(900), length: fc.nat(900) }, { requiredKeys: [] });
        await fc.assert(
          fc.asyncProperty(pieces, range, async (chunks, asked) => {
            const whole = Buffer.concat(chunks);
            const { id, sha256: digest } = await store.put("me", text, streamOf(...chunks));
            expect(digest).toBe(sha256(whole));
            const { offset = 0, length = whole.length } = asked;
            expect(await gather(store.read("me", id, asked))).toEqual(whole.subarray(offset, offset + length));
          }),
          { numRuns: 60 },
        );
      }));

    it("reads a large blob in chunks of at most 64 KiB", () =>
      using({}, async (store) => {
        const content = Buffer.alloc(1_000_003, "0123456789");
        const { id } = await put(store, content);
        let chunks = 0;
        for await (const chunk of store.read("me", id)) {
          chunks += 1;
          expect(chunk.length).toBeLessThanOrEqual(64 * 1024);
        }
        expect(chunks).toBe(16);
        const range = { offset: 65_530, length: 100_000 };
        expect(await gather(store.read("me", id, range))).toEqual(content.subarray(65_530, 165_530));
      }));

    it.each([{ offset: -1 }, { offset: 0.5 }, { length: -1 }, { length: Number.NaN }])(
      "rejects the range %o",
      (range) =>
        using({}, async (store) => {
          const { id } = await put(store, "x");
          const field = `/${Object.keys(range).join("")}`;
          await expect(gather(store.read("me", id, range))).rejects.toMatchObject({
            code: "VALIDATION_ERROR",
            facts: { violations: [{ field }] },
          });
        }),
    );

    it.each(["", "text", "text/", "text/plain;base64", "text/plain\n", `a/${"b".repeat(126)}`])(
      "rejects the kind %j",
      (kind) =>
        using({}, async (store) => {
          await expect(store.put("me", kind, Buffer.from("x"))).rejects.toMatchObject({
            code: "VALIDATION_ERROR",
            facts: { violations: [{ field: "/kind" }] },
          });
          expect(await everything(store)).toEqual([]);
        }),
    );

    it("reports another owner's blob exactly like a missing blob", () =>
      using({}, async (store) => {
        const { id } = await put(store, "secret");
        const unknown = `blob:${"0".repeat(32)}`;
        const absent = await everyRefusal(store, "you", unknown);
        expect(absent.map(({ code }) => code)).toEqual(Array(4).fill("BLOB_NOT_FOUND"));
        const foreign = JSON.stringify(await everyRefusal(store, "you", id));
        expect(foreign.replaceAll(id, unknown)).toBe(JSON.stringify(absent));
        expect((await gather(store.read("me", id))).toString()).toBe("secret");
      }));

    it("reports BLOB_NOT_FOUND for every malformed id", () =>
      using({}, async (store) => {
        const { id } = await put(store, "x");
        const odd = fc.oneof(
          fc.string({ unit: "binary", maxLength: 200 }),
          fc.constantFrom(
            id.toUpperCase(),
            id.slice(5),
            `${id}/`,
            `${id}\0`,
            `${id}.`,
            ` ${id}`,
            `blob:../records/${id}`,
          ),
          fc.constantFrom(
            "blob:",
            "blob:.",
            "blob:..",
            "blob:../usage",
            "blob:con",
            "__proto__",
            `blob:${"a".repeat(128)}`,
          ),
        );
        await fc.assert(
          fc.asyncProperty(odd, async (other) => {
            const codes = (await everyRefusal(store, "me", other)).map(({ code }) => code);
            expect(codes).toEqual(Array(4).fill("BLOB_NOT_FOUND"));
          }),
        );
      }));

    it("accepts a blob of exactly maxBlobBytes and rejects one byte more, from a buffer or a stream", () =>
      using({ maxBlobBytes: 10 }, async (store) => {
        expect((await put(store, "0123456789")).size).toBe(10);
        expect((await store.put("me", text, streamOf("01234", "56789"))).size).toBe(10);
        const tooLarge = { code: "BLOB_TOO_LARGE", facts: { limitBytes: 10 } };
        await expect(put(store, "0123456789a")).rejects.toMatchObject(tooLarge);
        await expect(store.put("me", text, streamOf("01234", "56789", "a"))).rejects.toMatchObject(tooLarge);
        expect(await everything(store)).toHaveLength(2);
      }));

    it("closes a source stream when the blob exceeds its limit", () =>
      using({ maxBlobBytes: 3 }, async (store) => {
        let closed = false;
        await expect(store.put("me", text, endless())).rejects.toMatchObject({ code: "BLOB_TOO_LARGE" });
        expect(closed).toBe(true);

        async function* endless(): AsyncGenerator<Uint8Array> {
          try {
            for (;;) yield await Promise.resolve(Buffer.from("x"));
          } finally {
            closed = true;
          }
        }
      }));

    it("accepts blobs up to exactly quotaBytes and counts identical content every time", () =>
      using({ quotaBytes: 10 }, async (store) => {
        const first = await put(store, "01234");
        await put(store, "01234");
        await put(store, "");
        const full = { code: "QUOTA_EXCEEDED", facts: { limit: "store", maxBytes: 10 } };
        await expect(put(store, "x")).rejects.toMatchObject(full);
        await store.remove("me", first.id);
        expect((await put(store, "56789")).size).toBe(5);
        await expect(put(store, "x")).rejects.toMatchObject(full);
      }));

    it("enforces the quota across concurrent puts", () =>
      using({ quotaBytes: 50 }, async (store) => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 30 }, (_, n) => put(store, `${n}`.padStart(5, "0"))),
        );
        expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
        expect(sum(await everything(store))).toBe(50);
      }));

    it("limits the number of blobs, including empty blobs", () =>
      using({ maxBlobs: 2 }, async (store) => {
        await put(store, "");
        await put(store, "");
        await expect(put(store, "")).rejects.toMatchObject({
          code: "QUOTA_EXCEEDED",
          facts: { limit: "store", maxBlobs: 2 },
        });
      }));

    it("limits bytes and blobs per owner, independently of other owners", () =>
      using({ ownerQuotaBytes: 10, ownerMaxBlobs: 3 }, async (store) => {
        const first = await put(store, "0123456789");
        const full = { code: "QUOTA_EXCEEDED", facts: { limit: "owner", maxBytes: 10, maxBlobs: 3 } };
        await expect(put(store, "x")).rejects.toMatchObject(full);
        await expect(put(store, "x")).rejects.toThrow(/ownerQuotaBytes, ownerMaxBlobs/);
        expect((await store.put("you", text, Buffer.from("0123456789"))).size).toBe(10);
        await put(store, "");
        await put(store, "");
        await store.remove("me", first.id);
        await put(store, "");
        await expect(put(store, "")).rejects.toMatchObject(full);
        expect((await store.put("you", text, Buffer.from(""))).size).toBe(0);
      }));

    it("sweeps expired blobs when the quota is exceeded", async () => {
      let now = 1_000_000;
      await using({ quotaBytes: 10, now: () => now }, async (store) => {
        const old = await put(store, "0123456789");
        now += day;
        expect((await put(store, "new")).size).toBe(3);
        await expect(store.stat("me", old.id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
      });
    });

    it("sweeps a blob when its age reaches ttlMs, and not one millisecond earlier", async () => {
      let now = 1_000_000;
      await using({ ttlMs: 500, now: () => now }, async (store) => {
        const one = await put(store, "one");
        now += 1;
        const two = await put(store, "two!");
        now += 498;
        expect(await store.sweep()).toEqual({ removed: 0, freedBytes: 0, held: 0 });
        now += 1;
        expect((await gather(store.read("me", one.id))).toString()).toBe("one");
        expect(await store.sweep()).toEqual({ removed: 1, freedBytes: 3, held: 0 });
        await expect(store.stat("me", one.id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
        expect((await everything(store)).map(({ id }) => id)).toEqual([two.id]);
      });
    });

    it("keeps a blob for 24 hours by default", async () => {
      const now = 1_000_000;
      await using({ now: () => now }, async (store) => {
        await put(store, "x");
        expect(await everything(store)).toMatchObject([{ owner: "me", createdAt: now, expiresAt: now + day }]);
      });
    });

    it("does not sweep a held blob until its last hold is released", async () => {
      let now = 1_000_000;
      await using({ now: () => now }, async (store) => {
        const { id } = await put(store, "x");
        const [release, releaseToo] = [await store.hold("me", id), await store.hold("me", id)];
        now += day;
        expect(await store.sweep()).toMatchObject({ removed: 0, held: 1 });
        await release();
        await release();
        expect(await store.sweep()).toMatchObject({ removed: 0, held: 1 });
        expect((await gather(store.read("me", id))).toString()).toBe("x");
        await releaseToo();
        expect(await store.sweep()).toMatchObject({ removed: 1, held: 0 });
      });
    });

    it("removes a held blob on request of its owner", () =>
      using({}, async (store) => {
        const { id } = await put(store, "x");
        const release = await store.hold("me", id);
        await store.remove("me", id);
        await expect(store.stat("me", id)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
        await release();
      }));

    it("finishes reading a blob that is removed during the read", () =>
      using({}, async (store) => {
        const content = Buffer.alloc(300_000, "abc");
        const { id } = await put(store, content);
        const chunks = store.read("me", id)[Symbol.asyncIterator]();
        const first = (await chunks.next()).value as Uint8Array;
        await store.remove("me", id);
        const rest = await gather({ [Symbol.asyncIterator]: () => chunks });
        expect(Buffer.concat([first, rest])).toEqual(content);
      }));

    it("keeps a blob when another blob with identical content is removed", () =>
      using({}, async (store) => {
        const [mine, yours] = [await put(store, "same"), await store.put("you", text, Buffer.from("same"))];
        await store.remove("me", mine.id);
        expect((await gather(store.read("you", yours.id))).toString()).toBe("same");
      }));

    it("rethrows an error from the source and stores nothing", () =>
      using({}, async (store) => {
        const failure = Object.assign(new Error("line dropped"), { code: "EIO" });
        async function* failing(): AsyncGenerator<Uint8Array> {
          yield await Promise.resolve(Buffer.from("half"));
          throw failure;
        }
        await expect(store.put("me", text, failing())).rejects.toBe(failure);
        expect(await everything(store)).toEqual([]);
      }));

    it("stops at the next chunk after an abort and rejects with the reason of the signal", () =>
      using({}, async (store) => {
        const stop = new AbortController();
        const reason = new Error("the turn was cancelled");
        async function* stopping(): AsyncGenerator<Uint8Array> {
          yield await Promise.resolve(Buffer.from("a"));
          stop.abort(reason);
          yield Buffer.from("b");
        }
        await expect(store.put("me", text, stopping(), { signal: stop.signal })).rejects.toBe(reason);
        await expect(store.put("me", text, Buffer.from("c"), { signal: stop.signal })).rejects.toBe(reason);
        expect(await everything(store)).toEqual([]);
      }));

    it("rejects every method with CLOSED after close", async () => {
      const store = open({});
      const { id } = await put(store, "x");
      await store.close();
      await store.close();
      const refusals = [...(await everyRefusal(store, "me", id)), await refusalOf(put(store, "x"))];
      refusals.push(await refusalOf(store.sweep()), await refusalOf(everything(store)));
      expect(refusals.map(({ code }) => code)).toEqual(Array(7).fill("CLOSED"));
    });

    it.each(["maxBlobBytes", "quotaBytes", "maxBlobs", "ownerQuotaBytes", "ownerMaxBlobs", "ttlMs"])(
      "rejects an invalid %s option with INVALID_OPTIONS",
      (option) => {
        for (const value of [-1, 0.5, Number.NaN, Infinity]) {
          expect(() => open({ [option]: value })).toThrow(expect.objectContaining({ code: "INVALID_OPTIONS" }));
        }
      },
    );
  });
}

function put(store: BlobStore, content: string | Buffer): ReturnType<BlobStore["put"]> {
  return store.put("me", text, Buffer.from(content));
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly facts: unknown;
}

async function everyRefusal(store: BlobStore, owner: string, id: string): Promise<Refusal[]> {
  const verbs = [store.stat(owner, id), gather(store.read(owner, id)), store.hold(owner, id), store.remove(owner, id)];
  return Promise.all(verbs.map(refusalOf));
}

async function refusalOf(verb: Promise<unknown>): Promise<Refusal> {
  try {
    await verb;
  } catch (error) {
    const { code, message, facts } = error as Refusal;
    return { code, message, facts };
  }
  throw new Error("was not refused");
}

async function everything(store: BlobUpkeep): Promise<ListedBlob[]> {
  const blobs: ListedBlob[] = [];
  for await (const blob of store.list()) blobs.push(blob);
  return blobs;
}

function sum(blobs: readonly ListedBlob[]): number {
  return blobs.reduce((bytes, { size }) => bytes + size, 0);
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
