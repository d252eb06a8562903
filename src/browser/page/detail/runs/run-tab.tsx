import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Empty } from "../../parts/icon.tsx";
import type { KnownDetail } from "../../source/skill-source.ts";
import { useBrowser } from "../../state/browser.ts";
import { RunForm } from "./run-form.tsx";
import { pageRunStateOf } from "./state/page-run-state.ts";
import { followSkill, targetsOf, type RunnableSkill } from "./state/run-form.ts";

/** Runs a skill: a form of its inputs or of a script, what it prints, what it returns. */
export function RunTab({ detail }: { readonly detail: KnownDetail }): JSX.Element {
  const { server } = useBrowser().source;
  const skill = useMemo<RunnableSkill>(
    () => ({ ...detail, inputs: detail.inputs ?? {}, scripts: detail.scripts ?? [] }),
    [detail],
  );
  if (server === undefined)
    return (
      <Empty icon="bolt" title="Skills cannot be run from here">
        <p>Only the page of acp-skills browse runs them.</p>
      </Empty>
    );
  if (targetsOf(skill).length === 0)
    return (
      <Empty icon="book" title="There is nothing to run">
        <p>This skill is instructions for a model. It has neither an entrypoint nor scripts.</p>
      </Empty>
    );
  return <Runnable key={skill.row.id} skill={skill} />;
}

function Runnable({ skill }: { readonly skill: RunnableSkill }): JSX.Element | null {
  const { server } = useBrowser().source;
  useEffect(() => {
    // Where the server does not answer, the connection line says so.
    server?.inspectSandbox().catch(() => undefined);
  }, [server]);
  const runs = server && pageRunStateOf(server);
  const form = runs?.form(skill.row.id);
  useEffect(() => {
    if (form !== undefined) followSkill(form, skill);
  }, [form, skill]);
  if (runs === undefined || form?.shown.value === undefined) return null;
  return <RunForm form={form} runs={runs} latest={skill} shown={form.shown.value} />;
}
