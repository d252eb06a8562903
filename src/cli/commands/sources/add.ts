import { SkillsError } from "../../../base/errors.ts";
import { readLock } from "../../../sources/lock-file.ts";
import { type InstallScope, findSkillsDirectory, shownSkillsDirectory } from "../../../sources/install-scope.ts";
import { parseSource, isCut } from "../../../sources/source.ts";
import { type SkillAdvice, loadAdviceReader } from "../../../skills/check.ts";
import { diskSkillFiles } from "../../../skills/files.ts";
import { openSignatures, signatureWords } from "../../../skills/signature.ts";
import { isNothing } from "../../../skills/permissions.ts";
import { type OptionValues, defineCommand, usageError, flag, type ExitCode, exit } from "../../command.ts";
import { counted, cutCodePoints, shortList } from "../../../base/text/code-points.ts";
import { shownPath } from "../../../base/paths/location.ts";
import { type Paint, type Terminal, noteSome } from "../../report/terminal.ts";
import {
  confirm,
  installing,
  lockNotes,
  recheckOptions,
  recordInstalls,
  scopeFromOptions,
  withReader,
} from "./install/source-options.ts";
import {
  type ConfirmedInstall,
  type Downloaded,
  type InstallPlan,
  type PlannedInstall,
  carryOut,
  chooseSkills,
  downloadAll,
  planInstalls,
  readNow,
  reasonLines,
  recoverSkillsDirectory,
  renameWords,
  wantedWords,
} from "../../../sources/install.ts";
import { restoreLocked } from "./install/restore-locked.ts";
import type { RemoteIndex, RemoteSkill } from "../../../sources/reader.ts";
import { shortDigest } from "../../../skills/hash.ts";
import { quoted } from "../../../base/text/quoted.ts";
import { adviceLines } from "../../report/problem-report.ts";
import { labelled, safeText } from "../../report/safe-text.ts";

const options = {
  all: flag("Install every skill of the source."),
  yes: flag("Install without asking.", "y"),
  "dry-run": flag("Show what would be installed, and install nothing."),
  replace: flag("Replace skills of another source, or that are not in the lock."),
  frozen: flag("Without SOURCE: all that the lock names or nothing, without asking. Default where CI is set."),
  ...installing,
  ...recheckOptions,
} as const;

export const command = defineCommand({
  usage: "add [SOURCE [NAME…]] [options]",
  positionals: { name: "SOURCE", minimum: 0, maximum: Infinity },
  options,
  examples: [
    "add example.com",
    "add example.com pdf --yes",
    "add",
    "add OWNER/REPO#v1.2 pdf",
    "add https://example.com/skills.git --all --dry-run",
    "add npm:@scope/skills@^1 --all",
    'add "mcp:npx -y some-server"',
  ],
  notes: [
    "SOURCE: a domain or URL, OWNER/REPO of GitHub, git:URL, registry:URL, npm:PACKAGE[@RANGE], npm:node_modules, oci://HOST/REPO[:TAG], mcp:URL or mcp:COMMAND; acp-skills discover SOURCE shows what is there.",
    "npm: from your registry, with the token of your ~/.npmrc. mcp: a server with MCP's Skills extension; a COMMAND runs on this machine, without a shell, and is written to the lock: put no secrets into it.",
    "Without SOURCE: installs exactly what the lock names, as in a fresh clone, or says why not; the lock stays as it is.",
    ...lockNotes,
    "Every skill that an agent would be offered is installed under the name that its source gives it; acp-skills check shows its problems.",
    "Installing grants nothing: what a skill requests is asked when it runs, or approved with acp-skills approvals grant NAME.",
    "Exits with 3 if something was not installed, or you declined.",
  ],
  async run({ options: given, positionals: [text, ...names] }, terminal) {
    const where = scopeFromOptions(given, terminal);
    const others = text === undefined ? (["all", "replace", "level"] as const) : (["frozen", "source"] as const);
    const misplaced = others.find((name) => given[name] !== undefined);
    if (misplaced !== undefined)
      throw usageError(`--${misplaced} is for add ${text === undefined ? "with a SOURCE" : "without a SOURCE"}`);
    if (text === undefined) return await restoreLocked(given, where, terminal);
    const source = parseSource(text);
    // Comes before any question: a damaged lock has to be repaired first.
    await recoverSkillsDirectory(where, (note) => terminal.note(note));
    return await withReader(given, [source], where.base, terminal, async (reader, signal, policy) => {
      terminal.progress.show(`reading ${source.label}`);
      const index = await readNow(reader, source, signal);
      const warnings = index.problems.map((problem) => `warning: ${problem}`);
      noteSome(warnings, maxShown, terminal);
      const chosen = await choose(index, names, { given, terminal });
      if (chosen === undefined) return exit.usage;
      terminal.progress.show(`downloading from ${source.label}`);
      const signatures = openSignatures(given["trusted-root"]);
      await signatures.check();
      const found = await downloadAll(chosen, source, {
        reader,
        level: given.level,
        signatures,
        deniesSigner: policy.deniesSigner,
        signal,
      });
      terminal.progress.done();
      return await install({ index, found, where, given, terminal, signal });
    });
  },
});

type Given = OptionValues<typeof options>;

const maxShown = 10;

/** Chooses the named skills, the only skill, or with `--all` every skill; undefined if the user has to name skills. */
async function choose(
  index: RemoteIndex,
  names: readonly string[],
  { given, terminal }: { readonly given: Given; readonly terminal: Terminal },
): Promise<readonly RemoteSkill[] | undefined> {
  if (names.length > 0) return chooseSkills(index, names);
  const { skills, source } = index;
  const { label } = source;
  if (skills.length === 0) throw new SkillsError("SKILL_NOT_FOUND", `${label} offers no skills.`);
  if (skills.length === 1 || given.all === true) return skills;
  const offered = skills.map(({ name }) => name);
  const dry_run = given["dry-run"] === true;
  if (given.json === true) await terminal.printJson({ source: label, dry_run, skills: [], refused: [], offered });
  terminal.note(`${label} offers ${skills.length} skills: name those that you want, or add --all:`);
  noteSome(
    offered.map((name) => `  ${name}`),
    200,
    terminal,
  );
  return undefined;
}

interface Found {
  readonly index: RemoteIndex;
  readonly found: Awaited<ReturnType<typeof downloadAll>>;
  readonly where: InstallScope;
  readonly given: Given;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function install({ index, found, where, given, terminal, signal }: Found): Promise<ExitCode> {
  const lock = readLock(where);
  const skills = findSkillsDirectory(where);
  const { plans, refusals } = await planInstalls(found, {
    index,
    lock,
    skills,
    discardsChanges: given["discard-changes"] === true,
    replacesOthers: given.replace === true,
    isAsked: given.yes !== true,
    allowsSignerChange: given["allow-signer-change"] === true,
  });
  const isJson = given.json === true;
  const adviceOn = await readAdvice(where, terminal);
  for (const { downloaded, plan } of plans)
    if (!isJson && plan.act !== "nothing") {
      await terminal.print(describeDownload(downloaded, toWords(downloaded, plan), terminal.paint));
      const advice = adviceOn(downloaded);
      if (advice.length > 0) await terminal.print(adviceLines(advice, { paint: terminal.paint, maxProblems }));
    }
  for (const line of reasonLines(refusals, " cannot be installed")) terminal.note(line);
  const todo = plans.flatMap(({ downloaded, plan }): ConfirmedInstall[] => {
    if (plan.act === "refuse" || plan.act === "nothing") return [];
    return [{ act: plan.act, key: downloaded.inspected.key, index, downloaded, seen: plan.seen }];
  });
  const isDry = given["dry-run"] === true;
  const isWanted = !isDry && (await isWantedBy(todo, { index, where, given, terminal, signal }));
  if (isWanted) {
    const flags = (["replace", "discard-changes", "allow-signer-change"] as const).filter(
      (name) => given[name] === true,
    );
    const about = [`from ${index.source.label}`, ...flags.map((name) => `--${name}`)].join(" ");
    const rows = todo.map(({ downloaded }) => ({ ...downloaded.inspected, about }));
    recordInstalls(where, "add", rows, terminal);
    const [entry] = await carryOut(where, lock, todo);
    reportInstalled(todo, entry?.sourceUrl, { index, where, terminal });
  }
  const unchanged = plans.filter(({ plan: { act } }) => act === "nothing").length;
  terminal.note(
    `${isWanted ? todo.length : 0} installed, ${refusals.length} refused, ${unchanged} unchanged${isDry ? " (dry run)" : ""}`,
  );
  if (isJson) {
    const rows = plans.map((planned) => toJson(planned, isWanted, where));
    await terminal.printJson({ source: index.source.label, dry_run: isDry, skills: rows, refused: refusals });
  }
  return refusals.length === 0 && (isWanted || isDry) ? exit.done : exit.unable;
}

async function isWantedBy(
  todo: readonly ConfirmedInstall[],
  { index, where, given, terminal, signal }: Omit<Found, "found">,
): Promise<boolean> {
  // Skills to adopt are installed already; they are only noted in the lock.
  const news = todo.filter(({ act }) => act !== "adopt");
  if (news.length === 0) return true;
  const directory = shownPath(shownSkillsDirectory(where), terminal.cwd);
  const renamed = news.map(({ downloaded }) => downloaded.inspected).filter((one) => renameWords(one) !== undefined);
  const others = renamed.map(({ key, slug }) => `${key} as ${slug}`).join(", ");
  const what = `${counted(news.length, "skill")}${others === "" ? "" : `, which agents are offered under another name (${others}),`}`;
  const title = `Install ${what} from ${index.source.label} in ${directory}?`;
  return await confirm(title, "Install", { yes: given.yes, terminal, signal });
}

function reportInstalled(
  todo: readonly ConfirmedInstall[],
  url: string | undefined,
  { index, where, terminal }: Pick<Found, "index" | "where" | "terminal">,
): void {
  if (todo.length === 0) return;
  for (const { act, key, downloaded } of todo) {
    const skill = `${key} ${downloaded.inspected.version}`;
    terminal.note(act === "adopt" ? `noted ${skill} in the lock; its files were here already` : `installed ${skill}`);
  }
  if (url !== undefined && isCut(url))
    terminal.note(`the secret part of the URL of ${index.source.label} is not in the lock: update needs --source URL`);
  const wanting = todo.find(({ downloaded }) => !isNothing(downloaded.inspected.wants))?.downloaded.inspected.slug;
  const grant = wanting === undefined ? "" : `; to approve what it requests now: acp-skills approvals grant ${wanting}`;
  const project =
    where.form === "project" ? "; models may read a project's skills after: acp-skills approvals grant --project" : "";
  terminal.note(`installing granted nothing${grant}${project}`);
}

/** Reads the project's findings of third-party scanners. Returns a function for those about a downloaded skill. */
async function readAdvice(
  { form, base }: InstallScope,
  terminal: Terminal,
): Promise<(downloaded: Downloaded) => readonly SkillAdvice[]> {
  if (form === "global") return () => [];
  const { adviceAbout, readProjectAdvice } = await loadAdviceReader();
  const { advice, problems } = readProjectAdvice(base, diskSkillFiles());
  for (const problem of problems) terminal.note(problem);
  return ({ inspected: { key, files } }) => adviceAbout(advice, key, files);
}

function toWords({ inspected }: Downloaded, plan: InstallPlan): string {
  if (plan.act === "refuse") return `refused: ${plan.what}`;
  const renamed = renameWords(inspected);
  return renamed === undefined ? plan.what : `${plan.what}; ${renamed}`;
}

function toJson({ downloaded, plan }: PlannedInstall, isInstalled: boolean, where: InstallScope): object {
  const { key, slug, name, version, digest, scripts, requires, problems } = downloaded.inspected;
  const { wants: permissions, hostCommands: host_commands } = downloaded.inspected;
  return {
    ...{ slug, name, version, digest, signature: downloaded.signature },
    ...{ permissions, scripts, requires, host_commands, problems },
    action: plan.act,
    done: plan.act === "nothing" || (isInstalled && plan.act !== "refuse"),
    path: `${shownSkillsDirectory(where)}/${key}`,
  };
}

/** The maximum number of entries in each list; further entries are only counted. */
const maxProblems = 20;

/** Describes a skill in a few lines: its name, version and digest, what it declares, and the warnings of `check`. */
function* describeDownload({ inspected: skill, signature }: Downloaded, what: string, paint: Paint): Iterable<string> {
  const { key, version, digest, description, scripts, requires, hostCommands, problems } = skill;
  const field = labelled((style, text) => paint(style, `  ${text}`), 14);
  yield `${paint("bold", safeText(key))} ${safeText(version)} (${shortDigest(digest)}): ${what}\n`;
  yield field("description", cutCodePoints(description, 160));
  yield field("signature", signatureWords(signature));
  const words = wantedWords({ ...skill, hostCommands: [] });
  yield field("permissions", words.length === 0 ? "none" : shortList(words, maxProblems));
  yield field("scripts", shortList(scripts, maxProblems));
  yield field("requires", shortList(requires, maxProblems));
  for (const command of hostCommands.slice(0, maxProblems)) yield field("runs itself", quoted(command));
  for (const { code, severity, file, line, message, fix } of problems.slice(0, maxProblems))
    yield field(severity, `${file}:${line} ${code}: ${message}. ${fix}`);
  if (problems.length > maxProblems) yield field("", `and ${problems.length - maxProblems} more problems`);
}
