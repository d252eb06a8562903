import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Empty } from "../../parts/icon.tsx";
import type { SkillServer } from "../../source/http-source.ts";
import { useBrowser } from "../../state/browser.ts";
import type { TabProps } from "../tabs.ts";
import { RunForm } from "./run-form.tsx";
import { pageRunStateOf } from "./state/page-run-state.ts";
import { followSkill, targetsOf, type RunnableSkill } from "./state/run-form.ts";

/** Runs a skill: a form of its inputs or of a script, what it prints, what it returns. */
export function RunTab({ detail }: TabProps): JSX.Element | null {
  const { server } = useBrowser().source;
  const skill = useMemo<RunnableSkill>(
    () => ({ ...detail, inputs: detail.inputs ?? {}, scripts: detail.scripts ?? [] }),
    [detail],
  );
  if (targetsOf(skill).length === 0)
    return (
      <Empty icon="book" title="There is nothing to run">
        <p>This skill is instructions for a model. It has neither an entrypoint nor scripts.</p>
      </Empty>
    );
  return server === undefined ? null : <Runnable key={skill.row.id} skill={skill} server={server} />;
}

interface RunnableProps {
  readonly skill: RunnableSkill;
  readonly server: SkillServer;
}

function Runnable({ skill, server }: RunnableProps): JSX.Element | null {
  useEffect(() => {
    // Where the server does not answer, the connection line says so.
    server.inspectSandbox().catch(() => undefined);
  }, [server]);
  const runs = pageRunStateOf(server);
  const form = runs.form(skill.row.id);
  useEffect(() => followSkill(form, skill), [form, skill]);
  const shown = form.shown.value;
  return shown === undefined ? null : <RunForm {...{ form, server, runs, shown }} latest={skill} />;
}
