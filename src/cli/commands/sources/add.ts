import { SkillsError } from "../../../errors.ts";
import { readLock } from "../../../remote/lock/lock-file.ts";
import { findSkillsDirectory, shownSkillsDirectory } from "../../../remote/lock/skills-place.ts";
import type { SkillsPlace } from "../../../remote/lock/skills-place.ts";
import type { RemoteIndex, RemoteSkill } from "../../../remote/remote-skill.ts";
import { isCut, parseSource } from "../../../remote/source.ts";
import { isNothing } from "../../../trust/grants/capabilities.ts";
import { defineCommand } from "../../command.ts";
import type { OptionValues } from "../../command.ts";
import { counted } from "../../report/columns.ts";
import { shownPath } from "../../../base/paths/shown-path.ts";
import type { Terminal } from "../../report/terminal.ts";
import { confirm } from "./install/confirm.ts";
import { describeDownload } from "./install/describe-download.ts";
import { carryOut } from "../../../install/carry-out.ts";
import type { Decided } from "../../../install/carry-out.ts";
import { chooseSkills, downloadAll } from "../../../install/offered-skills.ts";
import type { InstallPlan } from "../../../install/plan-install.ts";
import { planInstalls } from "../../../install/plan-installs.ts";
import type { PlannedInstall } from "../../../install/plan-installs.ts";
import { asking, lockNotes, place, placeOf } from "./install/source-options.ts";
import { openSkillsDirectory } from "../../../install/open-skills-directory.ts";
import { withReader } from "./install/with-reader.ts";
import { readNow } from "../../../install/read-now.ts";

const options = {
  all: { type: "boolean", help: "Install every skill of the source." },
  yes: { type: "boolean", short: "y", help: "Install without asking." },
  "dry-run": { type: "boolean", help: "Show what would be installed, and install nothing." },
  force: { type: "boolean", help: "Replace what was changed here or is not in the lock; install despite errors." },
  ...asking,
  ...place,
} as const;

export const command = defineCommand({
  usage: "add SOURCE [NAME…] [options]",
  positionals: { name: "SOURCE", minimum: 1, maximum: Infinity },
  options,
  examples: [
    "add example.com",
    "add example.com pdf --yes",
    "add OWNER/REPO#v1.2 pdf",
    "add https://example.com/skills.git --all --dry-run",
  ],
  notes: [
    "SOURCE: a domain or URL, OWNER/REPO of GitHub, git:URL, registry:URL; acp-skills discover SOURCE shows what is there.",
    ...lockNotes,
    "Installing grants nothing: what a skill requests is asked when it runs, or approved with acp-skills approvals grant NAME.",
    "Exits with 1 if something was not installed, or you declined.",
  ],
  async run({ options: given, positionals: [text = "", ...names] }, terminal) {
    const source = parseSource(text);
    const where = placeOf(given, terminal);
    // Before anything is asked: a damaged lock is the first to repair.
    readLock(where);
    openSkillsDirectory(where);
    return await withReader(
      { allowPrivate: given["allow-private"], typed: [source], terminal },
      async (reader, signal) => {
        terminal.progress.show(`reading ${source.label}`);
        const index = await readNow(reader, source, signal);
        tellProblems(index, terminal);
        const chosen = await choose(index, names, { given, terminal });
        if (chosen === undefined) return 1;
        terminal.progress.show(`downloading from ${source.label}`);
        const found = await downloadAll(chosen, reader, signal);
        terminal.progress.done();
        return await install({ index, found, where, given, terminal, signal });
      },
    );
  },
});

type Given = OptionValues<typeof options>;

const mostTold = 10;

function tellProblems({ problems }: RemoteIndex, terminal: Terminal): void {
  for (const problem of problems.slice(0, mostTold)) terminal.tell(`warning: ${problem}`);
  if (problems.length > mostTold) terminal.tell(`and ${problems.length - mostTold} more problems`);
}

/** The named skills, the only one, or with `--all` every one; undefined if the person has to say which. */
async function choose(
  index: RemoteIndex,
  names: readonly string[],
  { given, terminal }: { readonly given: Given; readonly terminal: Terminal },
): Promise<readonly RemoteSkill[] | undefined> {
  if (names.length > 0) return chooseSkills(index, names);
  const { skills, source } = index;
  if (skills.length === 0) throw new SkillsError("SKILL_NOT_FOUND", `${source.label} offers no skills.`);
  if (skills.length === 1 || given.all === true) return skills;
  const offered = skills.map(({ name }) => name);
  if (given.json === true)
    await terminal.printJson({
      source: source.label,
      dry_run: given["dry-run"] === true,
      skills: [],
      refused: [],
      offered,
    });
  terminal.tell(`${source.label} offers ${skills.length} skills: name those that you want, or add --all:`);
  for (const name of offered.slice(0, 200)) terminal.tell(`  ${name}`);
  if (offered.length > 200) terminal.tell(`  and ${offered.length - 200} more; acp-skills discover shows all`);
  return undefined;
}

interface Found {
  readonly index: RemoteIndex;
  readonly found: Awaited<ReturnType<typeof downloadAll>>;
  readonly where: SkillsPlace;
  readonly given: Given;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function install({ index, found, where, given, terminal, signal }: Found): Promise<number> {
  const lock = readLock(where);
  const skills = findSkillsDirectory(where);
  const { plans, refusals } = await planInstalls(found, { index, lock, skills, force: given.force === true });
  const isJson = given.json === true;
  for (const { downloaded, plan } of plans)
    if (!isJson && plan.act !== "nothing")
      await terminal.print(describeDownload(downloaded.inspected, toWords(plan), terminal.paint));
  for (const { name, why } of refusals) terminal.tell(`${name} cannot be installed: ${why}`);
  const todo = plans.filter(({ plan: { act } }) => act !== "refuse" && act !== "nothing");
  const isDry = given["dry-run"] === true;
  const isWanted =
    refusals.length === 0 && !isDry && (await isWantedBy({ todo, index, where, given, terminal, signal }));
  if (isWanted) carryOut(where, lock, decidedOf(todo, index));
  if (isWanted) tellInstalled(todo, { index, where, terminal });
  if (refusals.length === 0 && todo.length === 0) terminal.tell("everything is installed already");
  if (isJson) {
    const rows = plans.map((planned) => toJson(planned, isWanted, where));
    await terminal.printJson({ source: index.source.label, dry_run: isDry, skills: rows, refused: refusals });
  }
  return refusals.length === 0 && (isWanted || isDry) ? 0 : 1;
}

async function isWantedBy({
  todo,
  index,
  where,
  given,
  terminal,
  signal,
}: Omit<Found, "found"> & { readonly todo: readonly PlannedInstall[] }): Promise<boolean> {
  // Whatever is only to be noted in the lock is there already.
  const news = todo.filter(({ plan }) => plan.act !== "adopt");
  if (news.length === 0) return true;
  const directory = shownPath(shownSkillsDirectory(where), terminal.cwd);
  const title = `Install ${counted(news.length, "skill")} from ${index.source.label} in ${directory}?`;
  return await confirm(title, "Install", { yes: given.yes, terminal, signal });
}

function decidedOf(todo: readonly PlannedInstall[], index: RemoteIndex): readonly Decided[] {
  return todo.flatMap(({ downloaded, plan }) => {
    if (plan.act === "refuse" || plan.act === "nothing") return [];
    return [{ act: plan.act, key: downloaded.inspected.slug, index, downloaded, seen: plan.seen }];
  });
}

function tellInstalled(
  todo: readonly PlannedInstall[],
  { index, where, terminal }: Pick<Found, "index" | "where" | "terminal">,
): void {
  if (todo.length === 0) return;
  for (const { downloaded, plan } of todo) {
    const skill = `${downloaded.inspected.slug} ${downloaded.inspected.version}`;
    terminal.tell(
      plan.act === "adopt" ? `noted ${skill} in the lock; its files were here already` : `installed ${skill}`,
    );
  }
  const isSecret = readLock(where).entries.get(todo[0]?.downloaded.inspected.slug ?? "")?.sourceUrl;
  if (isSecret !== undefined && isCut(isSecret))
    terminal.tell(
      `the secret part of the URL of ${index.source.label} is not in the lock: update and outdated need it with --source URL`,
    );
  const wanting = todo.find(({ downloaded }) => !isNothing(downloaded.inspected.wants));
  const grant =
    wanting === undefined
      ? ""
      : `; to approve what it requests now: acp-skills approvals grant ${wanting.downloaded.inspected.slug}`;
  const project =
    where.form === "project" ? "; models may read a project's skills after: acp-skills approvals grant --project" : "";
  terminal.tell(`installing granted nothing${grant}${project}`);
}

function toWords(plan: InstallPlan): string {
  return plan.act === "refuse" ? `refused: ${plan.what}` : plan.what;
}

function toJson({ downloaded, plan }: PlannedInstall, isInstalled: boolean, where: SkillsPlace): object {
  const { slug, name, version, digest, permissions, wants, scripts, requires, problems } = downloaded.inspected;
  return {
    slug,
    name,
    version,
    digest,
    action: plan.act,
    done: plan.act === "nothing" || (isInstalled && plan.act !== "refuse"),
    path: `${shownSkillsDirectory(where)}/${slug}`,
    permissions,
    tools: wants.tools,
    scripts,
    requires,
    problems,
  };
}
