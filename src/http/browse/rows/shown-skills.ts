import { randomBytes } from "node:crypto";
import type { App } from "../../../app.ts";
import { latestWork } from "../../../base/promises/latest-work.ts";
import { runInSlices } from "../../../base/slices.ts";
import type { Steps } from "../../../base/slices.ts";
import type { SkillEnvironments } from "../../../skills/environment/skill-environments.ts";
import { needsGrant, permissionsOf } from "../../../skills/manifest/permissions.ts";
import type { OfferedSkill, Skill } from "../../../skills/skill.ts";
import type { SessionSkills } from "../../../skills/skillset.ts";
import type { Asker } from "../../../trust/authorization.ts";
import type { SkillRow, SkillsChange } from "../../../wire/browse/skills.ts";
import type { KeptAnswer } from "../../answer/kept-answer.ts";
import type { ShownSkill } from "./shown-skill.ts";
import { nothingStands, readStandings } from "./standings.ts";
import { placeName, toShownSkill, toUnofferedSkill } from "./to-row.ts";
import type { KnownOfSkill, Places } from "./to-row.ts";
import { findUnoffered } from "./unoffered.ts";

/** The skills as the page lists them, kept up to date. */
export interface ShownSkills {
  /** Grows with every change. */
  readonly revision: () => number;
  /** `SkillList` as bytes. */
  readonly list: () => Promise<KeptAnswer>;
  /** By the id of its row; waits for the first list. */
  readonly find: (id: string) => Promise<ShownSkill | undefined>;
  /** All of them, in the order of the list. */
  readonly all: () => Promise<readonly ShownSkill[]>;
  /**
   * Looks again how skills stand, and resolves when the rows say so: somebody approved or blocked something, or files of `edited` changed,
   * which the catalog does not notice where it lists nothing of them.
   */
  readonly lookAgain: (edited?: readonly ShownSkill[]) => Promise<void>;
  readonly close: () => void;
}

export interface ShownSkillsOptions {
  readonly app: App;
  readonly session: Pick<SessionSkills, "catalog">;
  readonly environments: Pick<SkillEnvironments, "of" | "prepare" | "onKnown">;
  readonly asker: Pick<Asker, "owner" | "directory">;
  readonly places: Places;
  /** Must not throw. */
  readonly changed: (change: SkillsChange) => void;
}

interface Rows {
  readonly byId: ReadonlyMap<string, ShownSkill>;
  readonly unread: readonly string[];
}

/** Opens the list and begins to read it. A change on disk is told at once; how skills stand follows, because files may have to be hashed. */
export function openShownSkills(options: ShownSkillsOptions): ShownSkills {
  const { app, session, environments, asker, places, changed } = options;
  const { catalog } = session;
  const closing = new AbortController();
  const epoch = randomBytes(6).toString("hex");
  const made = new WeakMap<OfferedSkill, { readonly known: KnownOfSkill; readonly shown: ShownSkill }>();
  const texts = new WeakMap<SkillRow, string>();
  let standings = nothingStands;
  /** By slug, for skills that were edited and are not looked at yet. */
  let before = new Map<string, Skill>();
  let rows: Rows = { byId: new Map(), unread: [] };
  let revision = 0;
  let kept: { readonly revision: number; readonly answer: Promise<KeptAnswer> } | undefined;

  const failed = (what: string) => (error: unknown) => {
    if (!closing.signal.aborted) app.log("error", `${what}: ${String(error)}`);
  };

  function knownOf({ skill, remote }: OfferedSkill): KnownOfSkill {
    const looked = before.get(skill.slug);
    // Until it is looked at, what may need approval is not shown as if it had it.
    const isWanting = needsGrant(permissionsOf(skill)) || (remote !== undefined && skill.kind === "action");
    return {
      standing: looked === undefined ? (isWanting ? "needs-approval" : undefined) : standings.standings.get(looked),
      wasApproved: looked !== undefined && standings.wereApproved.has(looked),
      environment: environments.of(skill),
    };
  }

  function toShown(offered: OfferedSkill): ShownSkill {
    const known = knownOf(offered);
    const last = made.get(offered);
    if (last !== undefined && isSameKnown(last.known, known)) return last.shown;
    const shown = toShownSkill(offered, known, places);
    made.set(offered, { known, shown });
    return shown;
  }

  function textOf(row: SkillRow): string {
    const known = texts.get(row) ?? JSON.stringify(row);
    texts.set(row, known);
    return known;
  }

  function* build(): Steps<Rows> {
    const { snapshot } = catalog;
    const found: ShownSkill[] = [];
    for (const offered of snapshot.skills) {
      found.push(toShown(offered));
      yield;
    }
    const unoffered = yield* findUnoffered(snapshot);
    for (const [file, problems] of unoffered.skills) {
      found.push(toUnofferedSkill(file, problems, places));
      yield;
    }
    if (unoffered.skills.size > 0)
      found.sort((a, b) => (a.row.name < b.row.name ? -1 : a.row.name > b.row.name ? 1 : 0));
    const unread = unoffered.unread.map(({ file, message }) => `${placeName(file, places)}: ${message}`);
    return { byId: new Map(found.map((shown) => [shown.row.id, shown])), unread };
  }

  function* compare(old: Rows, now: Rows): Steps<Omit<SkillsChange, "revision">> {
    const put: SkillRow[] = [];
    for (const [id, { row }] of now.byId) {
      const last = old.byId.get(id)?.row;
      if (last !== row && (last === undefined || textOf(last) !== textOf(row))) put.push(row);
      yield;
    }
    const removed = [...old.byId.keys()].filter((id) => !now.byId.has(id));
    return { put, removed };
  }

  const update = latestWork(async () => {
    await catalog.ready;
    if (closing.signal.aborted) return;
    const now = await runInSlices(build());
    const change = await runInSlices(compare(rows, now));
    if (closing.signal.aborted) return;
    const isSame = change.put.length === 0 && change.removed.length === 0 && isSameText(rows.unread, now.unread);
    rows = now;
    if (isSame && revision > 0) return;
    revision += 1;
    // Nobody knows the rows before the first list.
    if (revision > 1) changed({ revision, ...change });
  }, failed("The list of skills could not be made"));

  const look = latestWork(async () => {
    await catalog.ready;
    const { skills } = catalog.snapshot;
    environments.prepare(skills);
    standings = await readStandings(skills, { app, asker, signal: closing.signal });
    before = new Map(skills.map(({ skill }) => [skill.slug, skill]));
    await update();
  }, failed("How the skills stand could not be found out"));

  const ready = update();
  void ready.then(look);
  const stops = [
    catalog.onChange(() => {
      void update().then(look);
    }),
    environments.onKnown(() => void update()),
  ];
  app.onTrust((trust) => {
    if (!closing.signal.aborted) stops.push(trust.onChange(() => void look()));
  });

  async function encode(): Promise<KeptAnswer> {
    const now = revision;
    const { byId, unread } = rows;
    const pieces: string[] = [];
    function* encodeRows(): Steps<void> {
      for (const { row } of byId.values()) {
        pieces.push(textOf(row));
        yield;
      }
    }
    await runInSlices(encodeRows());
    const text = `{"revision":${now},"skills":[${pieces.join(",")}],"unread":${JSON.stringify(unread)}}`;
    return { body: new Uint8Array(Buffer.from(text)), etag: `"${epoch}-${now}"`, type: "application/json" };
  }

  return {
    revision: () => revision,
    async list() {
      await ready;
      if (kept?.revision !== revision) kept = { revision, answer: encode() };
      return await kept.answer;
    },
    async find(id) {
      await ready;
      return rows.byId.get(id);
    },
    async all() {
      await ready;
      return [...rows.byId.values()];
    },
    lookAgain(edited = []) {
      for (const { offered } of edited) if (offered !== undefined) made.delete(offered);
      return look();
    },
    close() {
      closing.abort();
      for (const stop of stops) stop();
    },
  };
}

function isSameKnown(a: KnownOfSkill, b: KnownOfSkill): boolean {
  return a.standing === b.standing && a.wasApproved === b.wasApproved && a.environment === b.environment;
}

function isSameText(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
