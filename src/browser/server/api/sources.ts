import * as z from "zod";
import { type AppliedPlan, type SourcePlan, planRequest, sourceText } from "../../wire/sources.ts";
import type { BrowseAnswer, MountBrowse } from "../browse-context.ts";
import { discover, listInstalled, shownDirectory } from "../sources/install-scopes.ts";
import { PendingPlans, digestNow } from "../sources/pending-plans.ts";
import { makePlan } from "../sources/make-plan.ts";
import { createLimitedRead } from "../sources/limited-source-reader.ts";
import { whoAndWhere } from "../../../runtime/ledger.ts";
import { carryOut, recoverSkillsDirectory } from "../../../sources/install.ts";

const discoverSchema = z.strictObject({ source: sourceText });
const applySchema = z.strictObject({ plan: z.string().max(64), nonce: z.string().max(128) });

/** `/api/sources`: the installed skills, the skills that a source offers, and installing them after the user has seen the changes. */
export const mountSources: MountBrowse = (context) => {
  const { nonces, app, allowPrivate } = context;
  const read = createLimitedRead(app.clock, allowPrivate, (url) => app.policyFor(context.directory).deniesSource(url));
  const plans = new PendingPlans(app.clock);
  return {
    "GET /api/sources": async ({ signal }) => ({ json: await listInstalled(context, signal) }),
    async "POST /api/sources/discover"({ json, signal }) {
      const { source: text } = await json(discoverSchema);
      return { json: await discover(text, read, context, signal) };
    },
    async "POST /api/sources/plan"({ json, signal }) {
      const { changes, problems, ...made } = await makePlan(await json(planRequest), {
        ...{ read, context, signal },
        policy: app.policyFor(context.directory),
      });
      const { id, digest } = await plans.add(made);
      const [nonce, directory] = [nonces.of(id, digest), shownDirectory(made.where, context)];
      return { json: { plan: id, nonce, directory, changes, problems } satisfies SourcePlan };
    },
    async "POST /api/sources/apply"({ json, signal }) {
      const { plan: id, nonce } = await json(applySchema);
      const plan = plans.find(id);
      if (plan === undefined) return stale("This plan was carried out, or is older than ten minutes; make it again.");
      // An interrupted installation is finished first.
      await recoverSkillsDirectory(plan.where, (note) => app.log("warning", note));
      const { where, lock, decided, digest } = plan;
      const fault = nonces.faultOf({ id, digest, nonce }, await digestNow(plan));
      if (fault?.code === "PERMISSION_DENIED")
        return { refused: { ...fault, message: "The nonce is not that of this plan; make it again." } };
      signal.throwIfAborted();
      if (!plans.drop(id) || fault !== undefined)
        return stale("What is installed changed since this plan was made; nothing was installed. Make it again.");
      for (const one of decided) {
        const { name: skill, version, digest } = one.downloaded.inspected;
        app.ledger.record({
          at: Date.now(),
          event: lock.entries.has(one.key) ? "update" : "add",
          tool: "skills",
          ...whoAndWhere({ project: where.form === "project" ? where.base : undefined }),
          skill,
          version,
          digest,
          about: `from ${one.index.source.label}`,
          door: "browser",
        });
        await carryOut(where, lock, [one]);
      }
      const done = decided.map(({ key }) => key);
      return { json: { directory: shownDirectory(where, context), done } satisfies AppliedPlan };
    },
  };
};

function stale(message: string): BrowseAnswer {
  return { refused: { status: 409, code: "STALE", message } };
}
