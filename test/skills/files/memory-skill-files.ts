import { hash } from "node:crypto";
import path from "node:path";
import { isSkillsError, SkillsError } from "../../../src/base/errors.ts";
import type { DirectoryEntry, SkillBytes, SkillFiles } from "../../../src/skills/files.ts";

type Node =
  | { readonly kind: "file"; readonly bytes: Uint8Array }
  | { readonly kind: "directory" }
  | { readonly kind: "other" }
  | { readonly kind: "denied" }
  | { readonly kind: "link"; readonly target: string };

/** Skills in memory, under POSIX paths. Changes are reported like by a watch: directory and name. */
export interface MemorySkillFiles extends SkillFiles {
  /** Creates missing parents. */
  write(file: string, content: string | Uint8Array): void;
  makeDirectory(directory: string): void;
  /** `target` is absolute, or relative to the link's directory; it need not exist. */
  link(link: string, target: string): void;
  /** Neither file nor directory, such as a FIFO. */
  makeOther(file: string): void;
  /** Denies permission. */
  deny(target: string): void;
  /** Recursively; of a link, only the link. */
  remove(target: string): void;
  rename(from: string, to: string): void;
  /** Calls back after each change. */
  onTouch(listener: (directory: string, name: string) => void): void;
}

const maxLinks = 40;

export function memorySkillFiles(initial: Readonly<Record<string, string | Uint8Array>> = {}): MemorySkillFiles {
  const nodes = new Map<string, Node>([["/", { kind: "directory" }]]);
  const listeners: ((directory: string, name: string) => void)[] = [];

  function touch(target: string): void {
    const directory = realPath(path.posix.dirname(target)) ?? path.posix.dirname(target);
    for (const listener of listeners) listener(directory, path.posix.basename(target));
  }
  function realPath(target: string, left = maxLinks): string | undefined {
    let real = "/";
    for (const segment of path.posix.resolve("/", target).split("/").filter(Boolean)) {
      const next = path.posix.join(real, segment);
      const node = nodes.get(next);
      if (node?.kind !== "link") real = next;
      else {
        const resolved = left > 0 ? realPath(path.posix.resolve(real, node.target), left - 1) : undefined;
        if (resolved === undefined) return undefined;
        real = resolved;
      }
    }
    return nodes.has(real) ? real : undefined;
  }
  function nodeAt(target: string): Node {
    const node = nodes.get(realPath(target) ?? "");
    if (node === undefined) throw unreadable(target, "it does not exist");
    if (node.kind === "denied") throw unreadable(target, "permission is denied");
    return node;
  }
  /** The real path of a new entry; resolves links above it and creates missing directories. */
  function place(target: string): string {
    const above = path.posix.dirname(target);
    if (above === target) return target;
    const directory = realPath(above);
    if (directory === undefined) makeDirectory(above);
    return path.posix.join(directory ?? realPath(above) ?? above, path.posix.basename(target));
  }
  function put(target: string, node: Node): void {
    const placed = place(path.posix.resolve("/", target));
    nodes.set(placed, node);
    touch(placed);
  }
  function makeDirectory(directory: string): void {
    if (realPath(directory) === undefined) put(directory, { kind: "directory" });
  }
  function below(directory: string): string[] {
    return [...nodes.keys()].filter((key) => key === directory || key.startsWith(`${directory}/`));
  }

  const files: MemorySkillFiles = {
    list(directory) {
      const real = realPath(directory);
      if (nodeAt(directory).kind !== "directory") throw unreadable(directory, "it is not a directory");
      const prefix = real === "/" ? "/" : `${real ?? directory}/`;
      const names = [...nodes.keys()]
        .filter((key) => key.length > prefix.length && key.startsWith(prefix))
        .map((key) => key.slice(prefix.length))
        .filter((name) => !name.includes("/"));
      return names.map((name) => toEntry(name, nodes.get(prefix + name), nodes.get(realPath(prefix + name) ?? "")));
    },
    head(file, limit) {
      const node = nodeAt(file);
      if (node.kind !== "file") throw unreadable(file, "it is not a regular file");
      return { bytes: node.bytes.subarray(0, limit), whole: node.bytes.length < limit };
    },
    resolve: (target) => realPath(target),
    write(file, content) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      put(realPath(file) ?? file, { kind: "file", bytes });
    },
    makeDirectory,
    link: (link, target) => put(link, { kind: "link", target }),
    makeOther: (file) => put(file, { kind: "other" }),
    deny: (target) => put(target, { kind: "denied" }),
    remove(target) {
      const placed = place(target);
      for (const key of below(placed)) nodes.delete(key);
      touch(placed);
    },
    rename(from, to) {
      const [source, destination] = [place(from), place(to)];
      const moved = below(source).map((key) => [key, nodes.get(key)] as const);
      for (const key of [...below(source), ...below(destination)]) nodes.delete(key);
      for (const [key, node] of moved) if (node) nodes.set(destination + key.slice(source.length), node);
      touch(source);
      touch(destination);
    },
    onTouch: (listener) => void listeners.push(listener),
  };
  for (const [file, content] of Object.entries(initial)) files.write(file, content);
  return files;
}

function toEntry(name: string, node: Node | undefined, real: Node | undefined): DirectoryEntry {
  const kind = real?.kind ?? "dangling";
  const seen = kind === "denied" ? "directory" : kind === "link" ? "dangling" : kind;
  return { name, kind: seen, link: node?.kind === "link" };
}

function unreadable(target: string, reason: string): SkillsError {
  return new SkillsError("UNREADABLE", `${target} cannot be read: ${reason}.`, { facts: { path: target } });
}

/** The bytes of skills in memory. The digest is the stamp. */
export function memorySkillBytes(files: SkillFiles): SkillBytes {
  const read = (file: string): Uint8Array | undefined => {
    try {
      return files.resolve(file) === file ? files.head(file, Infinity).bytes : undefined;
    } catch (error) {
      if (isSkillsError(error) && error.code === "UNREADABLE") return undefined;
      throw error;
    }
  };
  const sha256 = (file: string): string | undefined => {
    const bytes = read(file);
    return bytes && hash("sha256", bytes, "hex");
  };
  return {
    stamp(file) {
      const size = read(file)?.length;
      return size === undefined ? undefined : { size, version: sha256(file) };
    },
    head(file, limit) {
      const bytes = read(file);
      return bytes && { bytes: bytes.slice(0, limit), size: bytes.length, version: sha256(file) };
    },
    sha256,
  };
}
