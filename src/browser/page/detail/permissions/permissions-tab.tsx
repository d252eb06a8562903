import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { SkillPermissions } from "../../../wire/skills.ts";
import { Digest } from "../../parts/digest.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { canAct, useBrowser } from "../../state/browser.ts";
import type { TabProps } from "../tabs.ts";
import { RequestedCapabilities } from "./capabilities.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DiffText } from "../../parts/diff-text.tsx";
import { Grants } from "./grants.tsx";
import { standingDisplayOf } from "./standing-of.ts";
import { useDecision } from "./use-decision.ts";

/** What the skill may do, who allowed it, what changed since, and the decisions a person can take. */
export function PermissionsTab(props: TabProps): JSX.Element | null {
  const { permissions } = props.detail;
  return permissions === undefined ? null : <Permissions {...props} permissions={permissions} />;
}

function Permissions({
  detail,
  reload,
  isRemoved,
  permissions,
}: TabProps & { readonly permissions: SkillPermissions }): JSX.Element {
  const { source } = useBrowser();
  const heading = useRef<HTMLHeadingElement>(null);
  const deciding = useDecision(detail, reload);
  const { words, icon, tone, choices } = standingDisplayOf(permissions);
  const { server } = source;
  const canDecide = canAct(source) && !isRemoved && detail.digest !== undefined && detail.nonce !== undefined;
  return (
    <>
      <h3 ref={heading} tabIndex={-1} class={`mark standing ${tone}`}>
        <Icon name={icon} />
        {words}
      </h3>
      {permissions.denied !== undefined && (
        <p>
          <ForeignText text={permissions.denied.why} limit={1_000} />{" "}
          <ForeignText text={permissions.denied.hint} limit={1_000} />
        </p>
      )}
      {deciding.notice !== undefined && (
        <div class="caution" role="alert">
          <p class="title">{deciding.notice.title}</p>
          <ul>
            {deciding.notice.details.slice(0, 50).map((sentence) => (
              <li key={sentence}>
                <ForeignText text={sentence} limit={1_000} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {canDecide ? (
        <div class="bar">
          {choices.map(({ decision, title, style }) => (
            <button key={decision} type="button" class={`button ${style}`} onClick={() => deciding.ask({ decision })}>
              {title}
            </button>
          ))}
        </div>
      ) : (
        <p class="muted">
          {server?.about.value?.readOnly === true
            ? "This page is read-only: it was started with --read-only. Decide with `acp-skills approve` in a terminal."
            : detail.digest === undefined && !isRemoved
              ? "Its files cannot all be read, so there is no digest that could be approved. Look at its problems."
              : "Nothing can be decided here."}
        </p>
      )}
      {detail.digest !== undefined && (
        <p class="bar">
          <span class="muted">Digest of all files</span>
          <Digest digest={detail.digest} what="digest of all files" />
        </p>
      )}
      <RequestedCapabilities permissions={permissions} expects={detail.row.allowedTools ?? []} />
      <Changes permissions={permissions} />
      <Grants
        grants={permissions.grants}
        onRevoke={canDecide ? (grant) => deciding.ask({ decision: "revoke", grant }) : undefined}
      />
      <ConfirmDialog deciding={deciding} outcome={heading} />
    </>
  );
}

function Changes({
  permissions: { widened, changedFiles },
}: {
  readonly permissions: SkillPermissions;
}): JSX.Element | null {
  if (widened.length + changedFiles.length === 0) return null;
  return (
    <>
      <h3>Changed since it was approved</h3>
      {widened.length > 0 && (
        <ul class="caution list">
          {widened.map((permission) => (
            <li key={permission}>
              It now also wants: <ForeignText text={permission} limit={Infinity} />
            </li>
          ))}
        </ul>
      )}
      {changedFiles.map(({ path, diff }) => (
        <details key={path} class="change" open={changedFiles.length <= 5}>
          <summary>
            <ForeignText text={path} />
          </summary>
          {diff === undefined ? (
            <p class="muted">It differs, but is not text or too large to be compared here.</p>
          ) : (
            <DiffText diff={diff} label={`Changes of ${path.slice(0, 200)}`} />
          )}
        </details>
      ))}
    </>
  );
}
