import { createHash } from "node:crypto";
import path from "node:path";
import { SkillsError } from "../../base/errors.ts";
import { joinPath } from "../../base/paths/at-real-path.ts";
import type { DirectoryEntry, SkillSource } from "../files.ts";

/** The files of one skill in memory, presented as if in `directory`. Their paths must be relative, with `/`, and valid. */
export function memorySkillSource(
  directory: string,
  files: Iterable<{ readonly path: string; readonly bytes: Uint8Array }>,
): SkillSource {
  const contents = new Map(
    Array.from(files, (file) => [file.path.split("/").reduce(joinPath, directory), file.bytes] as const),
  );
  function list(at: string): readonly DirectoryEntry[] {
    const kinds = new Map<string, DirectoryEntry["kind"]>();
    for (const file of contents.keys()) {
      if (!file.startsWith(at + path.sep)) continue;
      const [name = "", ...below] = file.slice(at.length + 1).split(path.sep);
      kinds.set(name, below.length === 0 ? "file" : "directory");
    }
    return Array.from(kinds, ([name, kind]) => ({ name, kind, link: false }));
  }
  function read<Value>(file: string, use: (bytes: Uint8Array, size: number) => Value): Value | undefined {
    const bytes = contents.get(file);
    return bytes && use(bytes, bytes.length);
  }
  return {
    files: {
      list,
      head(file, limit) {
        const head = read(file, (bytes, size) => ({ bytes: bytes.subarray(0, limit), whole: size < limit }));
        if (head === undefined) throw new SkillsError("UNREADABLE", `${file} is not a file of the skill.`);
        return head;
      },
      resolve: (at) => (contents.has(at) || at === directory || list(at).length > 0 ? at : undefined),
    },
    bytes: {
      stamp: (file) => read(file, (_bytes, size) => ({ size, version: undefined })),
      head: (file, limit) =>
        read(file, (bytes, size) => ({ bytes: bytes.subarray(0, limit), size, version: undefined })),
      sha256: (file) => read(file, (bytes) => createHash("sha256").update(bytes).digest("hex")),
    },
  };
}
