import type { S3Client } from "@aws-sdk/client-s3";
import { isLoopbackAddress } from "../../base/network/address.ts";
import type { SkillsError } from "../../base/errors.ts";
import { unusableCluster } from "../database/database-error.ts";
import { ObjectStoreFailure } from "./blob-failure.ts";

/** The size of the chunks in which contents are verified and stored in the database, in bytes; the last one may be smaller. */
export const chunkBytes = 1024 * 1024;
/** The size of the objects that contents form in an object store, in bytes; the last one may be smaller. */
export const objectBytes = 8 * 1024 * 1024;
const attemptsToRead = 3;
const timeoutMs = 30_000;

/** A store of objects of at most `objectBytes`. Its functions reject with `ObjectStoreFailure`. */
export interface ObjectStore {
  /** Contents of more than so many bytes belong in this store. */
  readonly above: number;
  /** The URL of the bucket and prefix. */
  readonly label: string;
  put(name: string, bytes: Buffer): Promise<void>;
  /** Reads exactly the bytes from `start` to before `end`; undefined if there is no such object. */
  get(name: string, start: number, end: number): Promise<Buffer | undefined>;
  /** Removes an object, if it exists. */
  remove(name: string): Promise<void>;
  /** Lists the names of all objects older than `ageMs` milliseconds by the clock of the store, in batches. */
  listOlder(ageMs: number): AsyncIterable<readonly string[]>;
  close(): void;
}

interface ObjectLocation {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** The prefix of all names: empty, or with a slash at its end. */
  readonly prefix: string;
  readonly above: number;
}

/** Returns the name of an upload's object with this number. */
export function toObjectName(object: string, number: number): string {
  return `${object}/${number}`;
}

/** The form of the names that acp-skills gives: others may share the bucket, and have other names. */
const nameForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/\d+$/;

/**
 * Parses `https://HOST/BUCKET/PREFIX?region=REGION&above=BYTES`. The URL has no credentials: the SDK reads them from its environment
 * variables and files, or uses the roles of the machine. Throws INVALID_OPTIONS.
 */
export function parseObjectLocation(text: string): ObjectLocation {
  const refuse = (reason: string): SkillsError => unusableCluster(`ACP_SKILLS_CLUSTER_S3: ${reason}`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const [bucket = "", ...folders] = (url?.pathname ?? "").split("/").filter((part) => part !== "");
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^[a-z0-9][a-z0-9.-]{1,62}$/.test(bucket))
    throw refuse("needs the URL of a bucket, such as https://s3.example.com/bucket/prefix?region=eu-central-1");
  if (url.username !== "" || url.password !== "")
    throw refuse(
      "credentials do not belong in the URL: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile or role of AWS",
    );
  if (url.protocol === "http:" && !isLoopbackAddress(url.hostname.replace(/^\[|\]$/g, "")))
    throw refuse("http: does not encrypt; only https: is used to other machines");
  for (const name of url.searchParams.keys())
    if (name !== "region" && name !== "above") throw refuse(`${name} is unknown; known are region, above`);
  const above = Number(url.searchParams.get("above") ?? objectBytes);
  if (!Number.isInteger(above) || above < 65_536 || above > 67_108_864)
    throw refuse("above must be a number of bytes from 65536 to 67108864: so much of each put is in memory");
  return {
    endpoint: url.origin,
    region: url.searchParams.get("region") ?? "us-east-1",
    bucket,
    prefix: folders.map((folder) => `${folder}/`).join(""),
    above,
  };
}

/** Opens the store of a URL; connects at its first use. Undefined without a URL. Rejects with INVALID_OPTIONS, also without the SDK. */
export async function openObjectStore(url: string | undefined): Promise<ObjectStore | undefined> {
  if (url === undefined || url === "") return undefined;
  const { bucket: Bucket, prefix, endpoint, region, above } = parseObjectLocation(url);
  const sdk = await import("@aws-sdk/client-s3").catch((cause: unknown) => {
    const message = "ACP_SKILLS_CLUSTER_S3 needs the package @aws-sdk/client-s3: npm install @aws-sdk/client-s3";
    throw unusableCluster(message, cause);
  });
  const client = new sdk.S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    // The digests of the chunks verify more, and stores other than AWS refuse the checksums of the SDK.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: 10_000,
      requestTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
  });
  const toKey = (name: string): string => prefix + name;
  const clock = readClock(client);
  return {
    above,
    label: `${endpoint}/${Bucket}/${prefix}`,
    put: async (name, bytes) => {
      const command = new sdk.PutObjectCommand({ Bucket, Key: toKey(name), Body: bytes });
      await client.send(command).catch(fail);
    },
    async get(name, start, end) {
      for (let attempt = 1; ; attempt++)
        try {
          const Range = `bytes=${start}-${end - 1}`;
          const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: toKey(name), Range }));
          return await readExactly(Body as AsyncIterable<Uint8Array>, end - start);
        } catch (error) {
          if (error instanceof sdk.NoSuchKey) return undefined;
          if (attempt === attemptsToRead || error instanceof sdk.S3ServiceException) fail(error);
        }
    },
    remove: async (name) => {
      await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: toKey(name) })).catch(fail);
    },
    async *listOlder(ageMs) {
      try {
        for await (const { Contents = [] } of sdk.paginateListObjectsV2({ client }, { Bucket, Prefix: prefix })) {
          const before = clock.now() - ageMs;
          yield Contents.filter(({ LastModified }) => (LastModified?.getTime() ?? Infinity) <= before)
            .map(({ Key = "" }) => Key.slice(prefix.length))
            .filter((name) => nameForm.test(name));
        }
      } catch (error) {
        fail(error);
      }
    },
    close: () => client.destroy(),
  };
}

/** Returns the clock of the store: the time in its last answer. If the answer had no time, no object counts as old. */
function readClock(client: S3Client): { now(): number } {
  let time = Number.NaN;
  client.middlewareStack.add(
    (next) => async (request) => {
      const result = await next(request);
      const { headers } = result.response as { readonly headers?: Readonly<Record<string, string>> };
      time = Date.parse(headers?.["date"] ?? "");
      return result;
    },
    { step: "deserialize" },
  );
  return { now: () => time };
}

async function readExactly(body: AsyncIterable<Uint8Array>, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  for await (const part of body) {
    if (filled + part.length > length) throw new Error("It answered more bytes than it was asked for.");
    bytes.set(part, filled);
    filled += part.length;
  }
  if (filled < length) throw new Error("It answered fewer bytes than it was asked for.");
  return bytes;
}

/** Throws `ObjectStoreFailure` without a cause, because the original error contains the signed request. */
function fail(error: unknown): never {
  throw new ObjectStoreFailure(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}
