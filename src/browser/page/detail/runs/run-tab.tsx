import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Empty } from "../../components/icon.tsx";
import { useServer } from "../../state/browser.ts";
import type { TabProps } from "../tabs.ts";
import { RunForm } from "./run-form.tsx";
import { pageRunStateOf } from "./state/page-run-state.ts";
import { followSkill, targetsOf, type RunnableSkill } from "./state/run-form.ts";

/** The tab that runs a skill: a form of its inputs or of a script, the printed output, and the result. */
export function RunTab({ detail }: TabProps): JSX.Element | null {
  const server = useServer();
  const latest = useMemo<RunnableSkill>(
    () => ({ ...detail, inputs: detail.inputs ?? {}, scripts: detail.scripts ?? [] }),
    [detail],
  );
  const isRunnable = targetsOf(latest).length > 0;
  useEffect(() => {
    // If the server does not answer, the connection line says so.
    if (isRunnable) server.inspectSandbox().catch(() => undefined);
  }, [server, isRunnable]);
  const { form } = pageRunStateOf(server).of(latest.row.id);
  useEffect(() => followSkill(form, latest), [form, latest]);
  const shown = form.shown.value;
  if (isRunnable) return shown === undefined ? null : <RunForm {...{ form, latest, shown }} />;
  return (
    <Empty icon="book" title="There is nothing to run">
      <p>This skill is instructions for a model. It has neither an entrypoint nor scripts.</p>
    </Empty>
  );
}
