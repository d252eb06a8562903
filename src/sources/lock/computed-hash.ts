import { createHash } from "node:crypto";
import type { SkillFile } from "../reader.ts";

/** As in the default locale of the `skills` package, which sorts in that of its process. */
const { compare } = new Intl.Collator("en-US");

/**
 * The `computedHash` of the `skills` package: of paths and bytes, without separators, lengths or modes, so different skills can have the
 * same one. Only what that package looks at; our `digest` says more.
 */
export function computedHash(files: readonly Pick<SkillFile, "path" | "bytes">[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes } of files.filter(isHashed).sort((a, b) => compare(a.path, b.path)))
    hash.update(path).update(bytes);
  return hash.digest("hex");
}

/** Whether the hash covers a file: directories named `.git` and `node_modules` are left out wherever they are. */
export function isHashed({ path }: Pick<SkillFile, "path">): boolean {
  return !/(?:^|\/)(?:\.git|node_modules)\//.test(path);
}
