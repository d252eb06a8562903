import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { capitalised } from "../../../../base/text/code-points.ts";
import type { SkillGrant, SkillPermissions } from "../../../wire/skills.ts";
import { DiffText } from "../../components/diff-text.tsx";
import { Digest } from "../../components/digest.tsx";
import { fieldList } from "../../components/fields.tsx";
import { ForeignList, foreignText } from "../../components/foreign-text.tsx";
import { shownTime } from "../../components/formats.tsx";
import { Button, Icon } from "../../components/icon.tsx";
import { canAct, useBrowser } from "../../state/browser.ts";
import type { TabProps } from "../tabs.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { decisions, standingDisplayOf, useDecision } from "./use-decision.ts";

/** The tab of the skill's permissions, its approvals, the changes since, and the decisions that the user can take. */
export function PermissionsTab({ detail, reload, isRemoved }: TabProps): JSX.Element | null {
  const { source } = useBrowser();
  const heading = useRef<HTMLHeadingElement>(null);
  const deciding = useDecision(detail, reload);
  const { permissions, digest, nonce, row } = detail;
  if (permissions === undefined) return null;
  const { words, icon, tone, choices } = standingDisplayOf(permissions);
  const { denied, grants } = permissions;
  const canDecide = canAct(source) && !isRemoved && digest !== undefined && nonce !== undefined;
  const { notice } = deciding;
  return (
    <>
      <h3 ref={heading} tabIndex={-1} class={`mark standing ${tone}`}>
        <Icon name={icon} />
        {words}
      </h3>
      {denied !== undefined && <p>{foreignText(`${denied.why} ${denied.hint}`, 2_000)}</p>}
      {notice !== undefined && (
        <div class="caution" role="alert">
          <p class="title">{notice.title}</p>
          <ForeignList texts={notice.details.slice(0, 50)} limit={1_000} />
        </div>
      )}
      {canDecide ? (
        <div class="bar">
          {choices.map((decision) => (
            <Button
              kind={decision === "approve" ? "primary" : decision === "block" ? "danger" : ""}
              text={`${decisions[decision][0]}${decision === "approve" || decision === "once" ? " …" : ""}`}
              key={decision}
              onClick={() => deciding.ask({ decision })}
            />
          ))}
        </div>
      ) : (
        <p class="muted">
          {source.server?.about.value?.readOnly === true
            ? "This page is read-only: it was started with --read-only. Decide with `acp-skills approve` in a terminal."
            : digest === undefined && !isRemoved
              ? "Its files cannot all be read, so there is no digest that could be approved. Look at its problems."
              : "Nothing can be decided here."}
        </p>
      )}
      {digest !== undefined && (
        <p class="bar">
          <span class="muted">Digest of all files</span>
          <Digest digest={digest} what="digest of all files" />
        </p>
      )}
      {permissions.signature !== undefined && (
        <p class={permissions.signature.state === "invalid" ? "caution" : "muted"}>
          {foreignText(capitalised(permissions.signature.words), 2_500)}
        </p>
      )}
      {requestedCapabilities(permissions.wants, row.allowedTools ?? [])}
      {permissions.hostCommands.length > 0 && (
        <>
          <p class="caution">
            Agents that load it themselves run these commands on this machine, before the model reads it. Nothing here
            runs them, and no approval is asked for them here:
          </p>
          <ForeignList class="mono" texts={permissions.hostCommands} />
        </>
      )}
      <Changes {...permissions} />
      {grants.length > 0 && <h3>Approvals</h3>}
      {grants.length > 0 && (
        <ul class="cards">
          {grants.map((grant) =>
            grantCard(grant, canDecide ? () => deciding.ask({ decision: "revoke", grant: grant.id }) : undefined),
          )}
        </ul>
      )}
      <ConfirmDialog deciding={deciding} outcome={heading} />
    </>
  );
}

function Changes({ widened, changedFiles }: SkillPermissions): JSX.Element | null {
  if (widened.length + changedFiles.length === 0) return null;
  return (
    <>
      <h3>Changed since it was approved</h3>
      <ForeignList class="caution list" texts={widened.map((permission) => `It now also wants: ${permission}`)} />
      {changedFiles.map(({ path, diff }) => (
        <details key={path} class="change" open={changedFiles.length <= 5}>
          <summary>{foreignText(path)}</summary>
          <DiffText diff={diff} label={`Changes of ${path.slice(0, 200)}`} />
        </details>
      ))}
    </>
  );
}

/** The capabilities that a skill wants, in words, then exactly. `expects`: the tools of the agent that the skill's author lists. */
function requestedCapabilities(wants: SkillPermissions["wants"], expects: readonly string[]): JSX.Element {
  const { network, secrets, uses = [], project, isolation, words } = wants;
  const exact = (texts: readonly string[]): JSX.Element | undefined =>
    texts.length === 0 ? undefined : <ForeignList class="mono" texts={texts} />;
  return (
    <>
      <h3>What it wants</h3>
      {words.length === 0 && <p class="muted">Nothing beyond its sandbox.</p>}
      <ForeignList class="requested" texts={words} />
      {expects.length > 0 && (
        <p class="muted">Its author expects the agent's tools: {foreignText(expects.join(", "), Infinity)}</p>
      )}
      {fieldList([
        ["Network", exact(network)],
        ["Secrets", exact(secrets)],
        ["Secrets that it cannot read", exact(uses)],
        ["Project", exact(project === "none" ? [] : [project])],
        ["Isolation", exact(isolation === undefined ? [] : [isolation])],
      ])}
    </>
  );
}

/** An approval of exact files. `onRevoke` is absent if nothing can be decided. */
function grantCard(grant: SkillGrant, onRevoke: (() => void) | undefined): JSX.Element {
  const { id, version, isCurrent, who, when, project, expires, words, digest } = grant;
  return (
    <li key={id}>
      <p class="title">
        {foreignText(`Version ${version}`, 80)}
        <span class={`mark ${isCurrent ? "good" : "muted"}`}>
          {isCurrent ? "as installed now" : "other files than those installed now"}
        </span>
      </p>
      <p class="facts">
        {foreignText(`by ${who}`, 80)}
        {shownTime(Date.parse(when))}
        {foreignText(project === undefined ? "everywhere" : `in ${project}`, 200)}
        {expires !== undefined && <span>until {shownTime(Date.parse(expires))}</span>}
      </p>
      <ForeignList class="requested" texts={words} />
      <div class="bar">
        <Digest digest={digest} what="digest of the approved files" />
        {onRevoke !== undefined && <Button kind="danger" text="Revoke …" onClick={onRevoke} />}
      </div>
    </li>
  );
}
