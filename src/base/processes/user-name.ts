import { userInfo } from "node:os";

/** The name of the user who runs this process. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may have no entry for it.
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}
