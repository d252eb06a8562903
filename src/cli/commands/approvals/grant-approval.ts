import path from "node:path";
import { openApp } from "../../../app.ts";
import { localOwner } from "../../../caller.ts";
import { readOptions } from "../../../options.ts";
import type { CallingSkill } from "../../../trust/authorization.ts";
import { isNothing } from "../../../trust/capabilities.ts";
import { askAboutSkill, shortDigest } from "../../../trust/question.ts";
import { parseUntil } from "../../arguments/since.ts";
import { usageError } from "../../command.ts";
import { openProcessLog } from "../../open-log.ts";
import type { Approving } from "./approvals.ts";
import { installedSkill } from "./find-installed.ts";
import type { InstalledVersion } from "./find-installed.ts";

/** Allows one version of a skill, or trusts a project, as a person's answer would. */
export async function grantApproval(given: Approving): Promise<number> {
  const { options, terminal } = given;
  const app = openApp(readOptions({ log: openProcessLog() }, { home: terminal.home }));
  try {
    const trust = await app.trust();
    const directory = path.resolve(terminal.cwd, options.cwd ?? ".");
    const asker = { owner: localOwner, directory, door: "cli" };
    if (options.project === true) {
      const authorization = await trust.trustProject(directory, asker);
      terminal.tell(
        authorization.allowed
          ? `models may read the skills that came with ${directory}`
          : `${authorization.why} ${authorization.hint}`,
      );
      if (options.json === true) await terminal.printJson({ allowed: authorization.allowed, project: directory });
      return authorization.allowed ? 0 : 1;
    }
    const version = await versionNamed(given.targets[0] ?? "", given);
    const request = version.request(await callingSkill(options["called-by"], given));
    const { subject, wants } = request;
    if (isNothing(wants) && trust.policyFor(directory).runs === "sandbox") {
      terminal.tell(`${subject.name} ${subject.version} requests nothing beyond its sandbox: it needs no approval`);
      return 0;
    }
    const expires =
      options.expires === undefined
        ? undefined
        : new Date(parseUntil("--expires", options.expires, Date.now())).toISOString();
    const reach = options.scope;
    const authorization = await trust.answered(request, asker, { answer: "trust" }, { reach, expires });
    // Approvals for a session only, as a policy may demand, mean nothing here.
    const id = authorization.allowed && authorization.by.startsWith("grant_") ? authorization.by : undefined;
    if (!authorization.allowed || id === undefined) {
      terminal.tell(
        authorization.allowed
          ? `the policy lets you approve ${subject.name} only when it asks; acp-skills policy explain ${subject.name} shows why`
          : `${authorization.why} ${authorization.hint}`,
      );
      return 1;
    }
    const { name: skill, digest } = subject;
    given.ledger.record({
      at: Date.now(),
      event: "grant",
      tool: "approvals",
      skill,
      version: subject.version,
      digest,
      outcome: "allowed",
      grant: id,
      door: "cli",
    });
    const { title } = askAboutSkill({ ...request, lookAlike: request.lookAlike?.(), reach: "everywhere" });
    terminal.tell(`granted ${id}: ${title.replace(/^Run /, "")}`);
    if (options.json === true) await terminal.printJson({ id, skill, version: subject.version, digest });
    return 0;
  } finally {
    await app.close();
  }
}

/** `NAME` or `NAME@DIGEST`. Throws INVALID_OPTIONS if the installed skill has other bytes. */
async function versionNamed(text: string, given: Approving): Promise<InstalledVersion> {
  const [, name = text, digest] = /^([^@]+)@(?:sha256:)?([0-9a-f]{64})$/.exec(text) ?? [];
  if (digest === undefined && text.includes("@"))
    throw usageError(`${text}: a digest has 64 hexadecimal digits, as acp-skills show prints it`);
  const { versions } = await installedSkill(name, given);
  const [newest] = versions;
  const found = digest === undefined ? newest : versions.find((version) => version.digest === `sha256:${digest}`);
  if (found !== undefined) return found;
  throw usageError(
    newest === undefined
      ? `the files of ${name} cannot be read`
      : `the installed ${name} is another version (${shortDigest(newest.digest)}): its files changed since; look at it, then grant ${name}`,
  );
}

async function callingSkill(name: string | undefined, given: Approving): Promise<CallingSkill | undefined> {
  if (name === undefined) return undefined;
  const { skill, digest, isOwn } = await versionNamed(name, given);
  return { name: skill.name, digest, isOwn };
}
