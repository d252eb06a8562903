import type { JSX, ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Empty, Icon, type IconName } from "../../parts/icon.tsx";
import type { KnownDetail } from "../../source/skill-source.ts";
import { useBrowser } from "../../state/browser.ts";
import { RunForm } from "./run-form.tsx";
import { pageRunStateOf } from "./state/page-run-state.ts";
import { followSkill, targetsOf, type RunnableSkill } from "./state/run-form.ts";
import { RouteLink } from "../../parts/route-link.tsx";
import { toVisible } from "../../parts/foreign-text.tsx";
import type { SkillState } from "../../../wire/skills.ts";

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

/** What stands in the way of a run, and what to do about it. */
export function RunNotices({
  latest,
  isStale,
  onShowLatest,
}: {
  readonly latest: RunnableSkill;
  readonly isStale: boolean;
  readonly onShowLatest: () => void;
}): JSX.Element {
  const about = useBrowser().source.server?.about.value;
  const { id, state } = latest.row;
  const sandbox = about?.sandbox;
  const standing = standings[state];
  return (
    <div class="notices" role="status">
      {about?.readOnly === true && (
        <Notice icon="info" title="This server is read-only">
          Nothing can be run here. The command below runs it in a shell.
        </Notice>
      )}
      {sandbox !== undefined && "unavailable" in sandbox && (
        <Notice icon="alert" title="No sandbox is available">
          {toVisible(sandbox.unavailable, 500)}
        </Notice>
      )}
      {sandbox !== undefined && "remedy" in sandbox && (
        <Notice icon="info" title={`The ${sandbox.tier} sandbox does not support everything`}>
          It is without {sandbox.lacks?.join(", ")}. {toVisible(sandbox.remedy ?? "", 500)}
        </Notice>
      )}
      {standing !== undefined && (
        <Notice icon="shield" title={standing.title}>
          {standing.text}{" "}
          <RouteLink to={{ view: "skills", skill: id, tab: "permissions" }}>Open the permissions tab</RouteLink>
        </Notice>
      )}
      {isStale && (
        <Notice icon="diff" title="The skill changed on disk">
          The form is for the version that you looked at, and what you filled in is still here.{" "}
          <button type="button" class="button" onClick={onShowLatest}>
            Look at the new version
          </button>
        </Notice>
      )}
    </div>
  );
}

const standings: Partial<Record<SkillState, { readonly title: string; readonly text: string }>> = {
  "needs-approval": {
    title: "It needs your approval",
    text: "It wants something beyond its sandbox, and nobody has approved this version.",
  },
  changed: {
    title: "It changed since it was approved",
    text: "An earlier version was approved; this one is not.",
  },
  blocked: { title: "It is blocked", text: "You blocked every version of this skill." },
  denied: { title: "A policy denies it", text: "Only whoever maintains the policy can change that." },
};

function Notice({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="run-notice">
      <Icon name={icon} />
      <div>
        <strong>{title}</strong>
        <p>{children}</p>
      </div>
    </div>
  );
}
