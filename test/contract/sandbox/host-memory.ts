import { closeSync, openSync, readFileSync, readSync, readdirSync } from "node:fs";

interface ProcessMemory {
  /** Process id, name, and the range. */
  readonly name: string;
  readonly bytes: Buffer;
}

const largestRange = 64 * 1024 * 1024;

/** The readable memory of all processes that descend from this one, with what `/proc` says of each. Needs root, else nothing. */
export function* memoryOfChildren(): Generator<ProcessMemory, void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  for (const id of descendantsOf(process.pid)) {
    for (const file of ["environ", "cmdline"]) {
      const bytes = orNothing(() => readFileSync(`/proc/${id}/${file}`));
      if (bytes !== undefined) yield { name: `${id} ${file}`, bytes };
    }
    const memory = orNothing(() => openSync(`/proc/${id}/mem`, "r"));
    if (memory === undefined) continue;
    try {
      for (const line of (orNothing(() => readFileSync(`/proc/${id}/maps`, "utf8")) ?? "").split("\n")) {
        const [, from = "0", to = "0"] = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(line) ?? [];
        const [start, end] = [BigInt(`0x${from}`), BigInt(`0x${to}`)];
        const size = Number(end - start);
        if (size === 0 || size > largestRange) continue;
        const bytes = Buffer.alloc(size);
        const read = orNothing(() => readSync(memory, bytes, 0, size, start)) ?? 0;
        if (read > 0) yield { name: `${id} ${line}`, bytes: bytes.subarray(0, read) };
      }
    } finally {
      closeSync(memory);
    }
  }
}

function descendantsOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const stat = orNothing(() => readFileSync(`/proc/${name}/stat`, "utf8"));
    const [, parent] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isBelow = (id: number): boolean => {
    const parent = parents.get(id);
    return parent !== undefined && (parent === root || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

/** A process may exit, and some ranges cannot be read. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
