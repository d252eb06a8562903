import path from "node:path";
import * as z from "zod";
import { toContent } from "../../../base/text/content.ts";
import { SkillsError } from "../../../base/errors.ts";
import { homePath } from "../../../base/paths/location.ts";
import { toSlug } from "../../../skills/skill.ts";
import type { EvalLog, SkillEvals } from "../../wire/evals.ts";
import { type FileContent, decisionRequest, openFile } from "../../wire/skills.ts";
import type { BrowseContext, MountBrowse } from "../browse-context.ts";
import { decide } from "../decide.ts";
import { shownVersion } from "../shown-version.ts";
import { locateFile } from "../detail/installation.ts";
import { readSkillDetail, detailSections } from "../detail/show-skill.ts";
import { openInEditor } from "./open-in-editor.ts";
import { maxReplyBytes } from "../../../wire/tools.ts";

const shownRun = z.object({
  iteration: z.coerce.number().int().positive(),
  id: z.string(),
  withSkill: z.stringbool(),
  number: z.coerce.number().int().positive(),
});

const maxTries = 10;
const againMs = 100;

/** `/api/skills`: the list; the detail, files and evaluations of one skill; decisions about a skill; opening a file of a skill. */
export const mountSkills: MountBrowse = (context) => ({
  "GET /api/skills": async () => ({ cached: await context.skills.list() }),
  async "GET /api/skills/:id"({ param, query, signal }) {
    const asked = query.getAll("part");
    const sections = asked.length === 0 ? detailSections : detailSections.filter((section) => asked.includes(section));
    for (let triesLeft = maxTries; ; triesLeft -= 1) {
      const shown = await context.skills.find(param("id"));
      const { detail, isBehind } = await readSkillDetail(shown, sections, context, signal);
      // The catalog reads changed files with a short delay.
      if (isBehind && triesLeft > 0) {
        await new Promise<void>((resolve) => context.app.clock.after(againMs, resolve));
        signal.throwIfAborted();
        continue;
      }
      context.touched.watch(shown, detail.digest);
      return { json: detail };
    }
  },
  async "GET /api/skills/:id/files"({ param, query }) {
    const shown = await context.skills.find(param("id"));
    const path = query.get("path") ?? "";
    const { source } = context.app;
    const part = source.bytes.head(locateFile(shown, path, source), maxReplyBytes);
    if (part === undefined) throw new SkillsError("FILE_NOT_FOUND", `${JSON.stringify(path)} is not a regular file.`);
    const truncated = part.bytes.length < part.size;
    const content = toContent(part.bytes, { end: truncated });
    return { json: { ...content, sizeBytes: part.size, truncated } satisfies FileContent };
  },
  async "GET /api/skills/:id/evals"({ param }) {
    const { passRate, readIterations } = await import("../../../evals/recorded-runs.ts");
    const { toBenchmark } = await import("../../../evals/statistics.ts");
    const workspace = await workspaceOf(context, param("id"));
    const iterations = readIterations(workspace).map(({ number, runs }) => ({
      ...{ number, benchmark: toBenchmark(runs) },
      runs: runs.map((run) => ({ ...run, rate: passRate(run.results) })),
    }));
    return { json: { workspace: homePath(workspace, context.home), iterations } satisfies SkillEvals };
  },
  async "GET /api/skills/:id/evals/session"({ param, query }) {
    const { readSession } = await import("../../../evals/recorded-runs.ts");
    const workspace = await workspaceOf(context, param("id"));
    const { data } = shownRun.safeParse(Object.fromEntries(query));
    const lines = data && readSession(workspace, data.iteration, data);
    if (lines === undefined) throw new SkillsError("FILE_NOT_FOUND", "There is no transcript of this run.");
    return { json: { lines } satisfies EvalLog };
  },
  async "POST /api/skills/:id/decision"({ param, json, signal }) {
    const decision = await json(decisionRequest);
    const found = await shownVersion(param("id"), decision, context, signal);
    if ("refused" in found) return found;
    await decide(decision, found.offered, context, signal);
    return { json: {} };
  },
  async "POST /api/skills/:id/open"({ param, json }) {
    const { path, ...position } = await json(openFile);
    const file = locateFile(await context.skills.find(param("id")), path, context.app.source);
    const fault = await openInEditor({ file, ...position });
    return fault === undefined ? { json: {} } : { refused: { status: 503, code: "NOT_EXECUTABLE", message: fault } };
  },
});

/** The directory in which `acp-skills eval` records by default, if it is called in the project. */
async function workspaceOf(context: BrowseContext, id: string): Promise<string> {
  const { offered, row } = await context.skills.find(id);
  const name = offered?.skill.name ?? row.name;
  return path.join(context.directory, `${toSlug(name) ?? name}-workspace`);
}
