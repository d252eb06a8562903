import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Duplex, PassThrough, type Readable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { runProgram } from "../../../base/processes/spawn-process.ts";
import type { SandboxProcess } from "../drive/drive-run.ts";
import { exitOf, spawnSandbox } from "../drive/sandbox-life.ts";
import { type Frame, readFrames } from "../frames.ts";

export interface SeatbeltCommand {
  readonly argv: readonly string[];
  /** The directory of output files, which is also in `writable`. */
  readonly output: string;
  readonly writable: readonly string[];
}

interface Limits {
  readonly memory_bytes: number;
  readonly disk_bytes: number;
}

const measureEveryMs = 200;
const maxEntries = 20_000;

/**
 * Starts the one process of a run and supervises it from outside. Watches memory and files, kills the process on request, and reports its
 * output files. The process cannot fork, so there are no other processes.
 */
export async function startSeatbeltProcess(command: SeatbeltCommand, clock: Clock): Promise<SandboxProcess> {
  const [file = "", ...rest] = command.argv;
  const child = await spawnSandbox(file, rest, {
    stdio: ["ignore", "pipe", "pipe", "ignore", "pipe"],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
  });
  const [, stdout, stderr, , program] = child.stdio as unknown as [null, Readable, Readable, null, Duplex];
  const control = new PassThrough();
  let end: { exit_code?: number | null; signal?: string | null; killed?: "memory" | "disk" } = {};
  let lastWords = "";
  let isOver = false;
  const kill = (): void => void child.kill("SIGKILL");
  const exited = exitOf(child, [stdout, stderr, program]).then(({ code, words }) => {
    end = { exit_code: code ?? 128, ...end };
    lastWords = words;
    isOver = true;
  });

  async function obey(): Promise<void> {
    const orders = readFrames(control);
    for (let order = await orders.next(); order !== undefined; order = await orders.next()) {
      if (order.header.type === "start") watch(order.header["limits"] as Limits);
      else kill();
    }
  }

  function watch(limits: Limits): void {
    const measure = async (): Promise<void> => {
      let killed: "memory" | "disk" | undefined;
      if ((await residentBytes(child.pid ?? 0)) > limits.memory_bytes) killed = "memory";
      for (const directory of command.writable) if ((await usedBytes(directory)) > limits.disk_bytes) killed ??= "disk";
      if (isOver) return;
      if (killed === undefined) clock.after(measureEveryMs, () => void measure());
      else {
        end = { killed };
        kill();
      }
    };
    void measure();
  }

  async function* report(): AsyncGenerator<Frame> {
    await exited;
    yield* collectOutput(command.output, end);
  }

  void obey();
  const frames = report();
  return {
    pid: child.pid,
    control,
    program,
    stdout,
    stderr,
    exited,
    kill,
    listener: undefined,
    frames: { next: async () => (await frames.next()).value as Frame | undefined },
    lastWords: () => lastWords,
    release: () => {
      for (const stream of [stdout, stderr, program, control]) stream.destroy();
    },
    keepAlive: () => undefined,
  };
}

async function residentBytes(pid: number): Promise<number> {
  const stdout = await runProgram("/bin/ps", ["-o", "rss=", "-p", String(pid)], { env: {} }).catch(() => ""); // It has exited.
  return Number(stdout.trim()) * 1024;
}

/** The used bytes of a directory tree; infinite for more than `maxEntries` entries. */
async function usedBytes(root: string): Promise<number> {
  let bytes = 0;
  let entries = 0;
  const left = [root];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const name of await readdir(at).catch(() => [])) {
      entries += 1;
      if (entries > maxEntries) return Infinity;
      const path = join(at, name);
      const found = await lstat(path).catch(() => undefined);
      if (found?.isDirectory() === true) left.push(path);
      else bytes += (found?.blocks ?? 0) * 512;
    }
  }
  return bytes;
}

const maxPathBytes = 1_000;

/**
 * The output files of a dead program as frames, then a frame `end` with the fields of `end`. Follows no links and opens nothing that
 * could block; files that are not saved are listed in `skipped`.
 */
export async function* collectOutput(directory: string, end: Readonly<Record<string, unknown>>): AsyncGenerator<Frame> {
  const skipped: { path: string; why: string }[] = [];
  const left = [""];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    // Empty if the program removed its own permission.
    const entries = await readdir(join(directory, at), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (path.includes("\ufffd")) skipped.push({ path, why: "its name is not UTF-8" });
      else if (Buffer.byteLength(path) > maxPathBytes)
        skipped.push({ path: `${path.slice(0, 100)}…`, why: "its name is too long" });
      else if (entry.isDirectory()) left.push(path);
      else {
        const taken = entry.isFile() ? await take(directory, path) : "it is not a regular file";
        if (typeof taken === "string") skipped.push({ path, why: taken });
        else yield taken;
      }
    }
  }
  yield frameOf({ type: "end", ...end, skipped }, 0, nothing());
}

async function take(directory: string, path: string): Promise<Frame | string> {
  const full = join(directory, path);
  try {
    const { nlink, size } = await lstat(full);
    if (nlink !== 1) return "it has several hard links";
    return frameOf({ type: "file", path, bytes: size }, size, read(full, size));
  } catch {
    return "it cannot be read";
  }
}

async function* read(path: string, size: number): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  // Closes the file.
  yield* file.createReadStream({ end: size - 1 }) as AsyncIterable<Buffer>;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // Empty.
}

function frameOf(header: Frame["header"], size: number, payload: AsyncIterable<Uint8Array>): Frame {
  return { header, headerBytes: 0, size, payload };
}

/** The settings that deny network access, terminals and Apple events to every run. */
const closed = {
  network: {
    allowedDomains: [] as readonly string[],
    deniedDomains: ["*"],
    strictAllowlist: true,
    allowUnixSockets: [] as readonly string[],
    allowAllUnixSockets: false,
    allowLocalBinding: false,
  },
  allowPty: false,
  allowAppleEvents: false,
  enableWeakerNetworkIsolation: false,
};

/** The fields of sandbox-runtime's `SandboxRuntimeConfig` that matter on macOS. */
export type SeatbeltConfiguration = typeof closed & {
  readonly filesystem: Readonly<Record<"denyRead" | "allowRead" | "allowWrite" | "denyWrite", readonly string[]>> & {
    readonly allowGitConfig: boolean;
  };
};

/** Directories that a run can access, as real paths. */
export interface SeatbeltDirectories {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** The paths that programs need on macOS to start; they contain no files of users. */
const system = [
  ...["/usr/lib", "/usr/bin", "/bin", "/usr/share", "/System", "/Library/Frameworks", "/Library/Developer"],
  ...["/private/etc/localtime", "/private/etc/ssl", "/private/var/db/timezone", "/dev"],
];

/** Characters that would make a path a pattern for the runtime. */
const patternSigns = /[*?[\]{}]/;

/**
 * Allows reading the listed paths, writing `writable`, and no network. `alwaysWritable`: the paths that the runtime makes writable unless
 * they are denied. Throws a `TypeError` for a path that the runtime would treat as a pattern.
 */
export function seatbeltConfiguration(
  directories: SeatbeltDirectories,
  alwaysWritable: readonly string[],
): SeatbeltConfiguration {
  for (const path of [...directories.readable, ...directories.writable]) {
    if (!path.startsWith("/") || patternSigns.test(path))
      throw new TypeError(`${path} contains characters that Seatbelt rules cannot express.`);
  }
  return {
    ...closed,
    filesystem: {
      denyRead: ["/"],
      allowRead: [...system, ...directories.readable, ...directories.writable],
      allowWrite: [...directories.writable],
      denyWrite: [...alwaysWritable.filter((path) => !path.startsWith("/dev/")), ...directories.readable],
      allowGitConfig: true,
    },
  };
}
