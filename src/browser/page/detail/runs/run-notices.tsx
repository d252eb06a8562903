import type { JSX } from "preact";
import type { About, SkillState } from "../../../wire/skills.ts";
import { toVisible } from "../../components/foreign-text.tsx";
import { Button, Icon, type IconName } from "../../components/icon.tsx";
import { RouteLink } from "../../components/route-link.tsx";
import type { RunnableSkill } from "./state/run-form.ts";

/** The obstacles to a run of the latest version, each with a remedy. `onShowLatest`: given if the form is for another version. */
export function runNotices(
  { row: { id, state } }: RunnableSkill,
  about: About | undefined,
  onShowLatest: (() => void) | undefined,
): JSX.Element {
  const { sandbox } = about ?? {};
  const [standing, why] = standings[state] ?? [];
  const permissions = (
    <RouteLink to={{ view: "skills", skill: id, tab: "permissions" }}>Open the permissions tab</RouteLink>
  );
  const readOnly = "Nothing can be run here. The command below runs it in a shell.";
  const stale = "The form is for the version that you looked at, and what you filled in is still here.";
  return (
    <div class="notices" role="status">
      {about?.readOnly === true && notice("info", "This server is read-only", readOnly)}
      {sandbox !== undefined &&
        "unavailable" in sandbox &&
        notice("alert", "No sandbox is available", toVisible(sandbox.unavailable, 500))}
      {sandbox !== undefined &&
        "remedy" in sandbox &&
        notice(
          "info",
          `The ${sandbox.tier} sandbox does not support everything`,
          `It is without ${sandbox.lacks?.join(", ") ?? ""}. ${toVisible(sandbox.remedy ?? "", 500)}`,
        )}
      {standing !== undefined && notice("shield", standing, why, permissions)}
      {onShowLatest !== undefined &&
        notice(
          "diff",
          "The skill changed on disk",
          stale,
          <Button text="Look at the new version" onClick={onShowLatest} />,
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

function notice(icon: IconName, title: string, text?: string, action?: JSX.Element): JSX.Element {
  return (
    <div class="run-notice">
      <Icon name={icon} />
      <div>
        <strong>{title}</strong>
        <p>
          {text} {action}
        </p>
      </div>
    </div>
  );
}
