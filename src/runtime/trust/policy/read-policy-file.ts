import { type GuardedText, readGuardedFile } from "../../../base/paths/read-guarded-file.ts";
import type { PolicyLayer } from "./layers.ts";
import { policyLimits } from "./policy-file.ts";

/** Reads a policy file, or says why it is not read. */
export function readPolicyText(file: string, origin: PolicyLayer["origin"]): GuardedText {
  const of = origin === "project" ? "project" : "user";
  const read = readGuardedFile(file, { maxBytes: policyLimits.bytes, of });
  if (!("fault" in read) || read.fault !== "there is no such file") return read;
  return { ...read, fix: "Create it, or correct the name, for example in $ACP_SKILLS_POLICY." };
}
