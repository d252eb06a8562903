import { randomBytes } from "node:crypto";
import { utimesSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { BlobStore, BlobUpkeep } from "../../../src/runtime/blobs.ts";
import { openClusterBlobs, openObjectStore } from "../../../src/cluster/blobs.ts";
import { type ObjectStore, parseObjectLocation } from "../../../src/cluster/blobs/object-store.ts";
import type { Database } from "../../../src/cluster/database.ts";
import { describeBlobStore } from "../../contract/blob-store.ts";
import { gather, streamOf } from "../../runtime/blobs/gather.ts";
import { openPglite } from "../pglite-database.ts";
import { emptied } from "./emptied-database.ts";
import { type FakeS3, openFakeS3 } from "./fake-s3.ts";
import { type S3Server, openS3Server, s3Fault } from "./real-s3.ts";

const mebibyte = 1024 * 1024;
let database: Database;
beforeAll(async () => {
  database = await openPglite();
}, 60_000);
afterAll(async () => await database.close());

describe("the URL of an object store", () => {
  test("names endpoint, bucket, prefix, region and from which size on it is used", () => {
    expect(parseObjectLocation("https://s3.example.com/acme/skills/blobs?region=eu-central-1&above=1048576")).toEqual({
      endpoint: "https://s3.example.com",
      bucket: "acme",
      prefix: "skills/blobs/",
      region: "eu-central-1",
      above: mebibyte,
    });
    expect(parseObjectLocation("https://s3.example.com/acme/")).toMatchObject({ prefix: "", above: 8 * mebibyte });
  });

  test.each([
    ["s3://acme/x", /needs the URL of a bucket/],
    ["https://s3.example.com/", /needs the URL of a bucket/],
    ["https://s3.example.com/Not_A_Bucket", /needs the URL of a bucket/],
    ["https://key:secret@s3.example.com/acme", /credentials do not belong in the URL: set AWS_ACCESS_KEY_ID/],
    ["http://s3.example.com/acme", /http: does not encrypt/],
    ["https://s3.example.com/acme?regoin=x", /regoin is unknown; known are region, above/],
    ["https://s3.example.com/acme?above=1", /above must be a number of bytes from 65536 to 67108864/],
    ["https://s3.example.com/acme?above=8MB", /above must be a number of bytes/],
  ])("is refused: %s", (text, message) => {
    expect(() => parseObjectLocation(text)).toThrow(message);
    expect(() => parseObjectLocation(text)).toThrow(expect.not.stringContaining("secret@") as never);
  });

  test("is none where the variable is empty", async () => {
    expect(await openObjectStore(undefined)).toBeUndefined();
    expect(await openObjectStore("")).toBeUndefined();
  });
});

const fault = s3Fault();
describe.skipIf(fault)(`with s3rver${fault === undefined ? "" : ` (skipped: ${fault})`}`, () => {
  let server: S3Server;
  let store: ObjectStore;
  const openEmpty = async (prefix: string): Promise<ObjectStore> => {
    const opened = await openObjectStore(`${server.url}/${prefix}`);
    if (opened === undefined) throw new Error("There is no store.");
    return { ...opened, above: 0 };
  };
  beforeAll(async () => {
    server = await openS3Server();
    store = await openEmpty("contract");
  }, 30_000);
  afterAll(async () => {
    store.close();
    await server.close();
  });

  describeBlobStore("clusterBlobs with an object store", (options) =>
    openClusterBlobs(emptied(database), {
      ...options,
      objects: { ...store, close: () => undefined },
    }),
  );

  describe("contents", () => {
    let blobs: BlobStore & BlobUpkeep;
    let objects: ObjectStore;
    beforeEach(async () => {
      objects = await openEmpty("own");
      blobs = openClusterBlobs(emptied(database), {
        maxBlobBytes: 64 * mebibyte,
        objects,
      });
      await blobs.stat("me", `blob:${"0".repeat(32)}`).catch(() => undefined);
    });
    afterEach(async () => await blobs.close());
    const names = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const page of objects.listOlder(-mebibyte)) found.push(...page);
      return found;
    };

    test("of many MiB are objects of 8 MiB, read at any range, and removed with the last blob", async () => {
      const bytes = randomBytes(21 * mebibyte + 5);
      const one = await blobs.put("me", "a/b", streamOf(bytes));
      expect(await names()).toHaveLength(3);
      expect((await gather(blobs.read("me", one.id))).equals(bytes)).toBe(true);
      for (const offset of [0, 8 * mebibyte - 3, 9 * mebibyte, 20 * mebibyte, bytes.length - 1]) {
        const found = await gather(blobs.read("me", one.id, { offset, length: mebibyte + 7 }));
        expect(found.equals(bytes.subarray(offset, offset + mebibyte + 7))).toBe(true);
      }
      const two = await blobs.put("you", "a/b", bytes);
      await blobs.remove("me", one.id);
      expect((await gather(blobs.read("you", two.id, { offset: bytes.length - 9 }))).length).toBe(9);
      await blobs.remove("you", two.id);
      await expect.poll(names).toEqual([]);
    }, 60_000);

    test("without a row are removed when they are older than an hour by the clock of the store, and nothing else", async () => {
      const { id } = await blobs.put("me", "a/b", randomBytes(100));
      const [used = ""] = await names();
      const [old, fresh] = ["0", "1"].map((digit) => `${digit.repeat(8)}-1111-1111-1111-111111111111/0`) as [
        string,
        string,
      ];
      for (const name of [old, fresh, "somebody/else"]) await objects.put(name, Buffer.from("x"));
      const hoursAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
      for (const name of [old, used, "somebody/else"])
        utimesSync(path.join(server.directory, "own", `${name}._S3rver_object`), hoursAgo, hoursAgo);
      await blobs.sweep();
      expect((await names()).toSorted()).toEqual([fresh, used].toSorted());
      expect((await objects.get("somebody/else", 0, 1))?.toString()).toBe("x");
      expect(await gather(blobs.read("me", id))).toHaveLength(100);
      await objects.remove("somebody/else");
      await objects.remove(fresh);
      await blobs.remove("me", id);
    });

    test("that were lost there are repaired by a put of the same bytes", async () => {
      const bytes = randomBytes(100);
      const { id } = await blobs.put("me", "a/b", bytes);
      for (const name of await names()) await objects.remove(name);
      await expect(gather(blobs.read("me", id))).rejects.toMatchObject({ code: "INTERNAL" });
      await blobs.put("you", "a/b", bytes);
      expect(await gather(blobs.read("me", id))).toEqual(bytes);
    });
  });
});

describe("a failing object store", () => {
  let fake: FakeS3;
  let blobs: BlobStore & BlobUpkeep;
  const bytes = randomBytes(100_000);
  beforeEach(async () => {
    fake = await openFakeS3();
    const objects = await openObjectStore(fake.url);
    blobs = openClusterBlobs(emptied(database), { objects });
  });
  afterEach(async () => {
    await blobs.close();
    await fake.close();
  });

  test("gets only what is larger than `above`", async () => {
    await blobs.put("me", "a/b", bytes.subarray(0, 65_536));
    expect(fake.requests).toEqual([]);
    await blobs.put("me", "a/b", bytes);
    expect(fake.requests).toEqual([expect.stringMatching(/^PUT \/bucket\/some\/folder\/[0-9a-f-]{36}\/0$/)]);
  });

  test("that answers 503 a few times is asked again", async () => {
    let left = 2;
    fake.fault = (_, response) => left-- > 0 && Boolean(response.writeHead(503).end());
    const { id } = await blobs.put("me", "a/b", bytes);
    left = 2;
    expect(await gather(blobs.read("me", id))).toEqual(bytes);
  });

  test("that answers nothing but 503 makes a put fail as busy, and leaves nothing", async () => {
    fake.fault = ({ method }, response) => method !== "DELETE" && Boolean(response.writeHead(503).end());
    await expect(blobs.put("me", "a/b", bytes)).rejects.toMatchObject({
      code: "RUNTIME_BUSY",
      message: expect.stringMatching(/^Blobs cannot be stored at the moment: their object store/) as string,
    });
    for await (const blob of blobs.list()) expect.fail(`There is ${blob.id}.`);
    await expect.poll(async () => await database.query("select from acp_skills.blob_uploads")).toEqual([]);
  }, 30_000);

  test("that cuts the connection in the middle is asked again", async () => {
    const { id } = await blobs.put("me", "a/b", bytes);
    let left = 2;
    fake.fault = (_, response, found) => {
      if (left-- <= 0 || found === undefined) return false;
      response.writeHead(206, { "content-length": found.length });
      response.write(found.subarray(0, 1000), () => response.destroy());
      return true;
    };
    expect(await gather(blobs.read("me", id))).toEqual(bytes);
    expect(left).toBe(-1);
  });

  test.each<[string, (found: Buffer) => Buffer, string]>([
    ["wrong bytes", (found) => Buffer.from(found).fill(7, 50, 51), "INTERNAL"],
    ["too few bytes", (found) => found.subarray(1), "RUNTIME_BUSY"],
    ["too many bytes", (found) => Buffer.concat([found, found]), "RUNTIME_BUSY"],
  ])("that answers %s hands on none of them", async (_, change, code) => {
    const { id } = await blobs.put("me", "a/b", bytes);
    fake.fault = (request, response, found) => {
      if (request.method !== "GET" || found === undefined) return false;
      response.writeHead(206).end(change(found));
      return true;
    };
    let received = 0;
    const reading = (async () => {
      for await (const piece of blobs.read("me", id)) received += piece.length;
    })();
    await expect(reading).rejects.toMatchObject({ code });
    expect(received).toBe(0);
  });

  test("has no bytes for a server that is not configured for it, which says so", async () => {
    const { id } = await blobs.put("me", "a/b", bytes);
    const other = openClusterBlobs(database);
    await expect(gather(other.read("me", id))).rejects.toThrow(/ACP_SKILLS_CLUSTER_S3 names none here/);
    await other.remove("me", id);
    await other.sweep();
    // Whoever can remove the object removes the row, too.
    expect(fake.objects.size).toBe(1);
    await blobs.sweep();
    expect(fake.objects.size).toBe(0);
    await other.close();
  });
});
