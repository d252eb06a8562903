import { remotePathFault } from "../../archive/check-path.ts";

/**
 * A relative path of a marketplace or manifest as a path of a tree: `./a/b/` is `a/b`, `.` and `./` are the root. Undefined for a path
 * that is absolute, leaves the root or cannot name a directory.
 */
export function toPluginPath(text: string): string | undefined {
  const plain = text.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  if (plain === "" || plain === ".") return text.startsWith("/") ? undefined : "";
  return remotePathFault(plain) === undefined ? plain : undefined;
}
