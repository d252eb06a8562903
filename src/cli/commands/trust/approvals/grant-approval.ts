import path from "node:path";
import { openApp } from "../../../../runtime/app.ts";
import { localOwner } from "../../../../runtime/caller.ts";
import { readOptions } from "../../../../runtime/options.ts";
import type { TrustCaller, CallingSkill, PolicyRefusal, Trust } from "../../../../runtime/trust.ts";
import { isNothing } from "../../../../skills/permissions.ts";
import { askAboutSkill } from "../../../../runtime/question.ts";
import { shortDigest } from "../../../../skills/hash.ts";
import { parseUntil } from "../../../arguments/values.ts";
import { usageError, type ExitCode, exit } from "../../../command.ts";
import { toUserWords } from "../../../report/outcome.ts";
import { errorLines } from "../../../report/safe-text.ts";
import { isNamedApproval, readApprovals } from "./list-approvals.ts";
import type { Approving } from "../approvals.ts";
import { type InstalledVersion, copiedVersion, installedSkill } from "./find-installed.ts";

/** Allows one version of a skill, or trusts a project, as an answer of the user would. */
export async function grantApproval(given: Approving): Promise<ExitCode> {
  return await answer(given, given.options.project === true ? grantProject : grantSkill);
}

/** Blocks the skills of a name, as an answer of the user would: for editors that do not show this answer. */
export async function blockSkill(given: Approving): Promise<ExitCode> {
  return await answer(given, async (trust, caller, { targets: [name = ""], options: { scope: reach }, store }) => {
    for (const { request } of await installedSkill(name, given))
      await trust.answered(request(), caller, { answer: "block" }, { reach });
    const blocks = (await readApprovals(store)).filter((one) => one.type === "block" && isNamedApproval(one, name));
    const isStored = reach === undefined || blocks.some(({ scope }) => scope === reach);
    const where = blocks.some(({ scope }) => scope === "everywhere") ? "everywhere" : "in this project";
    if (blocks.length > 0 && isStored) return { message: `blocked ${name} ${where}`, shown: { blocked: true, blocks } };
    return refused({ skill: name }, { why: `${name} is not blocked: that could not be stored.`, hint });
  });
}

const hint = "The warning above says what to correct in the data directory.";

type Answer = (trust: Trust, caller: AtTerminal, given: Approving) => Promise<Granted>;

async function answer(given: Approving, act: Answer): Promise<ExitCode> {
  const { options, store, terminal } = given;
  const app = openApp(readOptions({ log: terminal.log }, { home: terminal.home }), { approvals: store });
  let granted: Granted;
  try {
    const trust = await app.trust();
    const caller = { owner: localOwner, directory: path.resolve(terminal.cwd, options.cwd ?? "."), transport: "cli" };
    granted = await act(trust, caller, given);
  } finally {
    await app.close();
  }
  const { message, shown } = granted;
  terminal.note(...errorLines(message));
  if (options.json === true) await terminal.printJson(shown);
  return shown["allowed"] === false ? exit.unable : exit.done;
}

interface Granted {
  readonly message: string;
  /** The fields of the `--json` output. */
  readonly shown: Readonly<Record<string, unknown>>;
}

type AtTerminal = TrustCaller & { readonly directory: string };

async function grantProject(trust: Trust, caller: AtTerminal): Promise<Granted> {
  const { directory: project } = caller;
  const authorization = await trust.trustProject(project, caller);
  if (!authorization.allowed) return refused({ project }, authorization);
  const message = `models may read the skills that came with ${project}`;
  return { message, shown: { allowed: true, project } };
}

async function grantSkill(trust: Trust, caller: AtTerminal, given: Approving): Promise<Granted> {
  const { options, targets } = given;
  const installed = await versionNamed(targets[0] ?? "", given);
  const request = installed.request(await callingSkill(options["called-by"], given));
  const { skill: judged, wants } = request;
  const { name: skill, version, digest } = judged;
  const named = { skill, version, digest };
  if (isNothing(wants) && trust.policyFor(caller.directory).runs === "sandbox" && judged.origin === undefined) {
    const message = `${skill} ${version} requests nothing beyond its sandbox: it needs no approval`;
    return { message, shown: { allowed: true, id: null, ...named } };
  }
  const expires =
    options.expires === undefined
      ? undefined
      : new Date(parseUntil("--expires", options.expires, Date.now())).toISOString();
  const authorization = await trust.answered(request, caller, { answer: "trust" }, { reach: options.scope, expires });
  if (!authorization.allowed) return refused(named, authorization);
  const id = authorization.by;
  // A grant for one session means nothing here: a policy demands it, or the approval could not be stored.
  if (!id.startsWith("grant_")) {
    if (["project", "everywhere"].includes(trust.policyFor(caller.directory).approvals)) {
      const why = `The approval of ${skill} could not be stored: nothing was granted.`;
      return refused(named, { why, hint });
    }
    const why = `The policy lets you approve ${skill} only when it asks.`;
    return refused(named, { why, hint: `acp-skills policy explain ${skill} shows which rule decides.` });
  }
  const signature = await request.signature?.();
  const { title, expects, hostCommands } = askAboutSkill({
    ...request,
    signature,
    lookAlike: request.lookAlike?.(),
    reach: "everywhere",
  });
  return {
    message: `granted ${id}: ${[title, expects, hostCommands].filter((words) => words !== undefined).join(". ")}`,
    shown: { allowed: true, id, ...named },
  };
}

function refused(what: Readonly<Record<string, unknown>>, { why, hint }: PolicyRefusal): Granted {
  return { message: toUserWords(`${why} ${hint}`), shown: { allowed: false, ...what, why, hint } };
}

/** Finds the version that `NAME` or `NAME@DIGEST` names. Throws INVALID_OPTIONS if the installed skill has other bytes. */
async function versionNamed(text: string, given: Approving): Promise<InstalledVersion> {
  const [, name = text, digest] = /^([^@]+)@(?:sha256:)?([0-9a-f]{64})$/.exec(text) ?? [];
  if (digest === undefined && text.includes("@"))
    throw usageError(`${text}: a digest has 64 hexadecimal digits, as acp-skills show prints it`);
  const copied = digest === undefined ? undefined : await copiedVersion(name, `sha256:${digest}`, given);
  if (copied !== undefined) return copied;
  const versions = await installedSkill(name, given);
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
