import { readLock, unfinishedWords } from "../../../sources/lock-file.ts";
import { findSkillsDirectory } from "../../../sources/install-scope.ts";
import { defineCommand, exit } from "../../command.ts";
import { counted } from "../../../base/text/code-points.ts";
import { safeText } from "../../report/safe-text.ts";
import {
  type InstalledState,
  differenceWords,
  signatureOf,
  stateOf,
  unlockedNames,
} from "../../../sources/installed.ts";
import {
  type Signature,
  type Signer,
  isSameSigner,
  openSignatures,
  signatureWords,
  signerName,
} from "../../../skills/signature.ts";
import { trustedRoot } from "../../arguments/shared-options.ts";
import { emptyWords, lockNotes, scopeOptions, scopeFromOptions } from "./install/source-options.ts";

export const command = defineCommand({
  options: { ...scopeOptions, "trusted-root": trustedRoot },
  examples: ["verify", "verify --json"],
  notes: [
    "Compares the bytes of every skill in the lock with it, and who signed them, without network. For CI.",
    ...lockNotes,
    "Exits with 1 if a skill is missing, differs from the lock, has no hash there or a signature that proves nothing, or a change was interrupted. Skills that are not in the lock are named.",
  ],
  async run({ options }, terminal) {
    const where = scopeFromOptions(options, terminal);
    const lock = readLock(where);
    const skills = findSkillsDirectory(where);
    const results: Verified[] = [];
    const signatures = openSignatures(options["trusted-root"]);
    await signatures.check();
    for (const [name, entry] of lock.entries) {
      const isLinked = entry.sourceType === "node_modules";
      const result = isLinked ? ({ state: "unverifiable" } as const) : await stateOf(skills, name, entry);
      const signature = "installed" in result ? await signatureOf(skills, name, result, signatures) : undefined;
      results.push({ name, result, signature, signer: entry.signer });
    }
    const unfinished = unfinishedWords(where);
    const unlocked = unlockedNames(skills, lock.entries);
    const bad = results.filter((one) => one.result.state !== "unchanged" || signatureFault(one) !== undefined);
    const isOk = bad.length === 0 && unfinished === undefined;
    if (options.json === true) await terminal.printJson({ ok: isOk, skills: results.map(toJson), unlocked });
    else await terminal.print(results.flatMap(toLines));
    for (const name of unlocked) terminal.note(`note: ${name} is not in the lock`);
    if (lock.entries.size === 0) terminal.note(emptyWords(where));
    else
      terminal.note(
        `${counted(results.length, "skill")}: ${bad.length === 0 ? "all as locked" : `${bad.length} not as locked, or unknown`}`,
      );
    if (unfinished !== undefined) terminal.note(unfinished);
    return isOk ? exit.done : exit.found;
  },
});

interface Verified {
  readonly name: string;
  readonly result: InstalledState | { readonly state: "unverifiable" };
  readonly signature?: Signature | undefined;
  /** The signer that the lock pins. */
  readonly signer?: Signer | undefined;
}

/** The fault of the signature or its signer; undefined if there is none. */
function signatureFault({ signature, signer }: Verified): string | undefined {
  if (signature === undefined) return undefined;
  const found = signature.state === "signed" ? signature.signer : undefined;
  if (signer !== undefined && !isSameSigner(signer, found))
    return `${signatureWords(signature)}; the lock has ${signerName(signer)}`;
  return signature.state === "invalid" ? signatureWords(signature) : undefined;
}

function toJson({ name, result, signature }: Verified): object {
  return { name, state: result.state, ...("difference" in result && result.difference), signature };
}

function toLines(verified: Verified): string[] {
  const { name, result, signature } = verified;
  const shown = safeText(name);
  const fault = signatureFault(verified);
  switch (result.state) {
    case "unchanged":
      if (fault !== undefined) return [`signer   ${shown}: ${fault}\n`];
      return [`ok       ${shown}${signature?.state === "signed" ? `: ${signatureWords(signature)}` : ""}\n`];
    case "unverifiable":
      return [`unknown  ${shown}: the lock has no hash of its files\n`];
    case "missing":
      return [`missing  ${shown}: its directory does not exist; acp-skills add installs what the lock names\n`];
    case "changed":
      return [
        `changed  ${shown}${fault === undefined ? "" : `: ${fault}`}\n`,
        ...differenceWords(result.difference).map((words) => `         ${safeText(words)}\n`),
      ];
  }
}
