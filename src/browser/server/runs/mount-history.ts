import { setImmediate } from "node:timers/promises";
import type { LedgerEvent, SkillHistory } from "../../wire/runs.ts";
import type { App } from "../../../runtime/app.ts";
import type { MountBrowse } from "../browse-context.ts";

const maxShown = 200;
/** The maximum number of records read to find the runs. */
const maxRecords = 2_000;
/** The lines of the ledger that are read before other work has its turn. */
const linesInARow = 200;

/** `GET /api/skills/ID/history`: the runs of a skill and the ledger's events about it. */
export const mountHistory: MountBrowse = ({ app, session }) => ({
  async "GET /api/skills/:id/history"({ param, signal }) {
    const skill = session.catalog.find(param("id"))?.skill;
    if (skill === undefined) return { json: { runs: [], events: [] } satisfies SkillHistory };
    const [runs, events] = await Promise.all([runsOf(app, skill.slug, signal), eventsOf(app, skill.name, signal)]);
    return { json: { runs, events } satisfies SkillHistory };
  },
});

async function runsOf(app: App, slug: string, signal: AbortSignal): Promise<SkillHistory["runs"]> {
  const found: SkillHistory["runs"][number][] = [];
  let read = 0;
  for await (const { spec, createdAt: at, status } of (await app.runRecords()).list()) {
    signal.throwIfAborted();
    const { runId: run, skill, door, session, label: agent } = spec;
    if (skill?.slug === slug) found.push({ run, at, status, digest: skill.digest, door, session, agent });
    if (found.length === maxShown || ++read === maxRecords) break;
  }
  return found;
}

async function eventsOf(app: App, name: string, signal: AbortSignal): Promise<readonly LedgerEvent[]> {
  const found: LedgerEvent[] = [];
  let read = 0;
  for await (const entry of app.ledger.read()) {
    if (++read % linesInARow === 0) await setImmediate(undefined, { signal });
    if (entry.skill !== name) continue;
    const { event: what = "use", sessionId: session, runId: run, ...facts } = entry;
    found.push({ ...facts, what, session, run });
    if (found.length > 2 * maxShown) found.splice(0, maxShown);
  }
  return found.sort((one, other) => other.at - one.at).slice(0, maxShown);
}
