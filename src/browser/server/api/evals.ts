import path from "node:path";
import * as z from "zod";
import { SkillsError } from "../../../base/errors.ts";
import { homePath } from "../../../base/paths/location.ts";
import { toSlug } from "../../../skills/skill.ts";
import type { EvalSessionLog, SkillEvals } from "../../wire/evals.ts";
import type { BrowseDoor, MountBrowse } from "../browse-door.ts";
import { findShown } from "../shown-version.ts";

const shownRun = z.object({
  iteration: z.coerce.number().int().positive(),
  id: z.string(),
  withSkill: z.stringbool(),
  number: z.coerce.number().int().positive(),
});

/** `/api/skills/ID/evals`: what `acp-skills eval` has recorded in this project; `/session`: what was said and done in one session. */
export const mountEvals: MountBrowse = (door) => ({
  async "GET /api/skills/:id/evals"({ param }) {
    const { passRate, readIterations } = await import("../../../evals/recorded-runs.ts");
    const workspace = await workspaceOf(door, param("id"));
    const iterations = readIterations(workspace).map(({ number, runs }) => ({
      number,
      runs: runs.map((run) => ({ ...run, rate: passRate(run.results) })),
    }));
    return { json: { workspace: homePath(workspace, door.home), iterations } satisfies SkillEvals };
  },
  async "GET /api/skills/:id/evals/session"({ param, query }) {
    const { readSession } = await import("../../../evals/recorded-runs.ts");
    const workspace = await workspaceOf(door, param("id"));
    const { data } = shownRun.safeParse(Object.fromEntries(query));
    const lines = data && readSession(workspace, data.iteration, data);
    if (lines === undefined) throw new SkillsError("FILE_NOT_FOUND", "There is no transcript of this run.");
    return { json: { lines } satisfies EvalSessionLog };
  },
});

/** Where `acp-skills eval` records by default, if it is called in the project. */
async function workspaceOf(door: BrowseDoor, id: string): Promise<string> {
  const { offered, row } = await findShown(door, id);
  const name = offered?.skill.name ?? row.name;
  return path.join(door.directory, `${toSlug(name) ?? name}-workspace`);
}
