import { randomBytes } from "node:crypto";

/** A new id for a failure of ours: what the caller is told, and what stands beside the detail in the log. */
export function newErrorId(): string {
  return `err_${randomBytes(8).toString("hex")}`;
}
