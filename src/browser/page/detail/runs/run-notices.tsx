import type { JSX } from "preact";
import type { SkillState } from "../../../wire/skills.ts";
import { toVisible } from "../../parts/foreign-text.tsx";
import { Button, type EmptyProps, Icon } from "../../parts/icon.tsx";
import { RouteLink } from "../../parts/route-link.tsx";
import { useBrowser } from "../../state/browser.ts";
import type { RunnableSkill } from "./state/run-form.ts";

interface RunNoticesProps {
  readonly latest: RunnableSkill;
  readonly isStale: boolean;
  readonly onShowLatest: () => void;
}

/** What stands in the way of a run, and what to do about it. */
export function RunNotices({ latest, isStale, onShowLatest }: RunNoticesProps): JSX.Element {
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
        <Notice icon="shield" title={standing[0]}>
          {standing[1]}{" "}
          <RouteLink to={{ view: "skills", skill: id, tab: "permissions" }}>Open the permissions tab</RouteLink>
        </Notice>
      )}
      {isStale && (
        <Notice icon="diff" title="The skill changed on disk">
          The form is for the version that you looked at, and what you filled in is still here.{" "}
          <Button text="Look at the new version" onClick={onShowLatest} />
        </Notice>
      )}
    </div>
  );
}

const standings: Partial<Record<SkillState, readonly [title: string, text: string]>> = {
  "needs-approval": ["It needs your approval", "It wants more than its sandbox has, and nobody approved this version."],
  changed: ["It changed since it was approved", "An earlier version was approved; this one is not."],
  blocked: ["It is blocked", "You blocked every version of this skill."],
  denied: ["A policy denies it", "Only whoever maintains the policy can change that."],
};

function Notice({ icon, title, children }: EmptyProps): JSX.Element {
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
