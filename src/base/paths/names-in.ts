import { readdirSync } from "node:fs";
import { systemCode } from "../failures/system-code.ts";

/** The names in a directory; none if it does not exist. Throws any other error of the system. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}
