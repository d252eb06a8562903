import { ArchiveCollector, type ArchiveContent, type ArchiveOptions, badArchive } from "./archive-content.ts";
import { type TarHeader, blockSize, paddingAfter, parsePax, parseTarHeader, parseText } from "./tar-header.ts";

/** Of one extended header or long name. */
const metadataBytes = 64 * 1024;

/** What earlier headers say about the next entry. */
type Announced = Partial<Pick<TarHeader, "name" | "size" | "target">>;

/**
 * The files of a tar archive, held in memory; nothing is written. Throws SOURCE_INVALID at the first thing that is not a plain file or
 * directory with a usable path, for anything after the end, and beyond the limits.
 */
export async function readTar(
  source: AsyncIterable<Uint8Array>,
  options: ArchiveOptions = {},
): Promise<ArchiveContent> {
  const collector = new ArchiveCollector(options);
  const queue = new ByteQueue(limited(source, collector.limits.unpacked));
  try {
    const commit = await readEntries(queue, collector);
    await checkEnd(queue);
    return collector.end(commit);
  } finally {
    await queue.close();
  }
}

async function readEntries(queue: ByteQueue, collector: ArchiveCollector): Promise<string | undefined> {
  let commit: string | undefined;
  let announced: Announced = {};
  for (;;) {
    const block = await queue.take(blockSize);
    if (block === undefined) throw truncated();
    if (isZero(block)) {
      if (Object.keys(announced).length > 0) throw truncated();
      return commit;
    }
    collector.countEntry();
    const header = parseTarHeader(block);
    switch (header.type) {
      case "g":
        commit = commitOf(parsePax(await readMetadata(queue, header))) ?? commit;
        break;
      case "x":
        announced = { ...announced, ...fromPax(parsePax(await readMetadata(queue, header))) };
        break;
      case "L":
        announced = { ...announced, name: parseText(await readMetadata(queue, header)) };
        break;
      case "K":
        announced = { ...announced, target: parseText(await readMetadata(queue, header)) };
        break;
      default:
        await readEntry(queue, { ...header, ...announced }, collector);
        announced = {};
    }
  }
}

async function readEntry(queue: ByteQueue, header: TarHeader, collector: ArchiveCollector): Promise<void> {
  const { name, size, type, executable, target } = header;
  if (type === "1" || type === "2") {
    collector.addLink(name, target);
    await skipContent(queue, size);
  } else if (type === "5" || (type === "0" && name.endsWith("/"))) {
    if (size !== 0) throw badArchive("has a directory with content");
    collector.addDirectory(name);
  } else if (type === "0") {
    const path = collector.admitFile(name, size);
    if (path === undefined) await skipContent(queue, size);
    else collector.addFile({ path, bytes: await readContent(queue, size), executable });
  } else throw badArchive(`has an entry of type ${JSON.stringify(type)}; only files and directories are unpacked`);
}

async function readContent(queue: ByteQueue, size: number): Promise<Buffer> {
  const bytes = await queue.take(size);
  if (bytes === undefined || !(await queue.skip(paddingAfter(size)))) throw truncated();
  return bytes;
}

async function skipContent(queue: ByteQueue, size: number): Promise<void> {
  if (!(await queue.skip(size + paddingAfter(size)))) throw truncated();
}

async function readMetadata(queue: ByteQueue, { size }: TarHeader): Promise<Buffer> {
  if (size > metadataBytes) throw badArchive(`has an extended header of more than ${metadataBytes} bytes`);
  return await readContent(queue, size);
}

function fromPax(records: ReadonlyMap<string, string>): Announced {
  const name = records.get("path");
  const target = records.get("linkpath");
  const size = records.get("size");
  if (size !== undefined && !/^[0-9]{1,15}$/.test(size)) throw badArchive("has a damaged extended header");
  return {
    ...(name === undefined ? {} : { name }),
    ...(target === undefined ? {} : { target }),
    ...(size === undefined ? {} : { size: Number(size) }),
  };
}

/** `git archive` writes the commit; anything else that holds for all entries would change their meaning. */
function commitOf(records: ReadonlyMap<string, string>): string | undefined {
  if (records.has("path") || records.has("size") || records.has("linkpath"))
    throw badArchive("has an extended header that renames all its entries");
  const comment = records.get("comment");
  return comment !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(comment) ? comment : undefined;
}

/** A second block of zeros, and nothing but zeros after it. */
async function checkEnd(queue: ByteQueue): Promise<void> {
  const second = await queue.take(blockSize);
  if (second === undefined) throw truncated();
  for (let piece: Uint8Array | undefined = second; piece !== undefined; piece = await queue.next())
    if (!isZero(piece)) throw badArchive("has content after its end");
}

async function* limited(source: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > limit) throw badArchive(`unpacks to more than ${limit} bytes`);
    yield chunk;
  }
}

const zeros = Buffer.alloc(64 * 1024);

function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const piece = bytes.subarray(at, at + zeros.length);
    if (!zeros.subarray(0, piece.length).equals(piece)) return false;
  }
  return true;
}

function truncated(): Error {
  return badArchive("ends early");
}

/** Bytes that arrive in pieces, taken in other pieces. */
class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Exactly `size` bytes in a buffer of their own; undefined if there are fewer. The caller has limited the size. */
  async take(size: number): Promise<Buffer | undefined> {
    // Filled as they arrive: joining many pieces at the end would be one long turn.
    const bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    const complete = await this.#pass(size, (piece) => {
      bytes.set(piece, at);
      at += piece.length;
    });
    return complete ? bytes : undefined;
  }

  /** False if there are fewer than `size` bytes. */
  async skip(size: number): Promise<boolean> {
    return await this.#pass(size, () => undefined);
  }

  /** The next piece, of whatever size; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#rest.length === 0 && !(await this.#fill())) return undefined;
    const piece = this.#rest;
    this.#rest = new Uint8Array();
    return piece;
  }

  /** Stops what produces the bytes. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #pass(size: number, take: (piece: Uint8Array) => void): Promise<boolean> {
    for (let left = size; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#fill())) return false;
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      take(piece);
    }
    return true;
  }

  async #fill(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done !== true) this.#rest = next.value;
    return next.done !== true;
  }
}
