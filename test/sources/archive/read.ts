import { expect } from "vitest";
import type { SkillsError } from "../../../src/base/errors.ts";
import type { ArchiveContent, ArchiveOptions } from "../../../src/sources/archive/archive-content.ts";
import { readArchive } from "../../../src/sources/archive/read-archive.ts";

const { signal } = new AbortController();

export function read(bytes: Uint8Array, options: ArchiveOptions = {}): Promise<ArchiveContent> {
  return readArchive(bytes, options, signal);
}

/** Why an archive is refused. */
export async function fault(bytes: Uint8Array, options?: ArchiveOptions): Promise<string> {
  const error = await read(bytes, options).then(
    () => expect.unreachable("it should be refused"),
    (thrown: unknown) => thrown as SkillsError,
  );
  expect(error.code).toBe("SOURCE_INVALID");
  return error.message;
}
