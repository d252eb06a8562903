import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { localOwner } from "../../../runtime/caller.ts";
import { SkillsError } from "../../../base/errors.ts";
import { latestWork, runInSlices } from "../../../base/promises.ts";
import type { SkillEnvironments } from "../../../skills/environment.ts";
import { nearest } from "../../../base/text/nearest.ts";
import { isNothing, permissionsOf } from "../../../skills/permissions.ts";
import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import type { SkillListChange } from "../../wire/skills.ts";
import type { CachedResponse } from "../../../serve/cached-response.ts";
import type { BrowseContext } from "../browse-context.ts";
import { createRowMaker } from "./make-rows.ts";
import { type Rows, compareRows, encodeRows, type ShownSkill } from "./row-texts.ts";
import { findStandings } from "../../../runtime/runs.ts";

/** The skills as the page lists them. Changes on disk and decisions update them. */
export interface ShownSkills {
  /** The number of the list's version, which grows with every change. */
  readonly revision: () => number;
  /** `SkillList` as bytes. */
  readonly list: () => Promise<CachedResponse>;
  /** The skill with the id of a row; waits for the first list. Rejects with SKILL_NOT_FOUND. */
  readonly find: (id: string) => Promise<ShownSkill>;
  /** Every skill, in the order of the list. */
  readonly all: () => Promise<readonly ShownSkill[]>;
  /**
   * Reads the standings of skills again, and resolves when the rows show them. For decisions, and for changed files of `edited` that the
   * catalog does not list and so does not notice.
   */
  readonly refreshStandings: (edited?: readonly ShownSkill[]) => Promise<void>;
  readonly close: () => void;
}

interface ShownSkillsOptions extends Pick<BrowseContext, "app" | "session" | "directory" | "home"> {
  readonly environments: Pick<SkillEnvironments, "of" | "prepare" | "onKnown">;
  /** Must not throw. */
  readonly changed: (change: SkillListChange) => void;
}

/** Opens the list and begins to read it. A change on disk is announced at once; standings follow later, because files may be hashed. */
export function openShownSkills(options: ShownSkillsOptions): ShownSkills {
  const { app, environments, changed } = options;
  const { catalog } = options.session;
  const closing = new AbortController();
  const isClosed = (): boolean => closing.signal.aborted;
  const epoch = randomBytes(6).toString("hex");
  let known: Awaited<ReturnType<typeof readStandings>> = { standings: new Map(), wereApproved: new Set() };
  /** The skills whose standing was read, by slug. */
  let inspected = new Map<string, Skill>();
  let rows: Rows = { byId: new Map(), unread: [] };
  let revision = 0;
  let cached: { readonly revision: number; readonly answer: Promise<CachedResponse> } | undefined;

  const maker = createRowMaker(options, (offered) => {
    const { skill } = offered;
    const as = inspected.get(skill.slug);
    return {
      // Until its standing is read, a skill that may need approval is shown as needing it.
      standing: as === undefined ? (mayNeedApproval(offered) ? "needs-approval" : undefined) : known.standings.get(as),
      wasApproved: as !== undefined && known.wereApproved.has(as),
      environment: environments.of(skill),
    };
  });

  const failed = (what: string) => (error: unknown) => {
    if (!isClosed()) app.log("error", `${what}: ${String(error)}`);
  };

  const update = latestWork(async () => {
    await catalog.ready;
    if (isClosed()) return;
    const now = await runInSlices(maker.make(catalog.snapshot));
    const change = await runInSlices(compareRows(rows, now));
    if (isClosed()) return;
    const isSame = change.put.length + change.removed.length === 0 && isDeepStrictEqual(rows.unread, now.unread);
    rows = now;
    if (isSame && revision > 0) return;
    revision += 1;
    // Nobody knows the rows before the first list.
    if (revision > 1) changed({ revision, ...change });
  }, failed("The list of skills could not be made"));

  const readAll = latestWork(async () => {
    await catalog.ready;
    const { skills } = catalog.snapshot;
    environments.prepare(skills);
    known = await readStandings(skills, options, closing.signal);
    inspected = new Map(skills.map(({ skill }) => [skill.slug, skill]));
    await update();
  }, failed("How the skills stand could not be found out"));

  const ready = update();
  void ready.then(readAll);
  const stops = [catalog.onChange(() => void update().then(readAll)), environments.onKnown(() => void update())];
  app.onTrust((trust) => {
    if (!isClosed()) stops.push(trust.onChange(() => void readAll()));
  });

  async function encode(now: number): Promise<CachedResponse> {
    return { body: await runInSlices(encodeRows(rows, now)), etag: `"${epoch}-${now}"`, type: "application/json" };
  }

  return {
    revision: () => revision,
    async list() {
      await ready;
      if (cached?.revision !== revision) cached = { revision, answer: encode(revision) };
      return await cached.answer;
    },
    async find(id) {
      await ready;
      const shown = rows.byId.get(id);
      if (shown !== undefined) return shown;
      const available = nearest(id.slice(0, 128), [...rows.byId.keys()]);
      const hint = "It may have been removed or renamed; look at the list.";
      const message = `There is no skill ${JSON.stringify(id.slice(0, 128))}.`;
      throw new SkillsError("SKILL_NOT_FOUND", message, { facts: { available, hint } });
    },
    async all() {
      await ready;
      return [...rows.byId.values()];
    },
    refreshStandings(edited = []) {
      for (const { offered } of edited) if (offered !== undefined) maker.forget(offered);
      return readAll();
    },
    close() {
      closing.abort();
      for (const stop of stops) stop();
    },
  };
}

function mayNeedApproval({ skill, remote }: OfferedSkill): boolean {
  return !isNothing(permissionsOf(skill)) || (remote !== undefined && skill.kind === "action");
}

/** Finds the standings of skills, hashing files only of skills that want something. Rejects with the reason of `signal`. */
async function readStandings(
  skills: readonly OfferedSkill[],
  { app, directory }: Pick<BrowseContext, "app" | "directory">,
  signal: AbortSignal,
) {
  const trust = await app.trust();
  const { source, hasher } = app;
  const caller = { owner: localOwner, directory };
  const standings = await findStandings(skills, { trust, source, hasher, caller, signal });
  const grants = (await trust.approvalsFor(directory)).flatMap((approvals) => approvals.grants);
  const wereApproved = new Set<Skill>();
  for (const [skill, standing] of standings) {
    if (standing !== "needs-approval") continue;
    const own = grants.filter((grant) => grant.skill === skill.name && grant.calledBy === undefined);
    if (own.length === 0) continue;
    const { digest } = await hasher.hash(source, skill.directory, signal);
    // A grant with the digest of the installed files has expired or covers less.
    if (own.some((grant) => grant.digest !== digest)) wereApproved.add(skill);
  }
  return { standings, wereApproved };
}
