import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { SkillPermissions, SkillGrant } from "../../../wire/skills.ts";
import { Digest } from "../../parts/digest.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { canAct, useBrowser } from "../../state/browser.ts";
import type { TabProps } from "../tabs.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DiffText } from "../../parts/diff-text.tsx";
import { standingDisplayOf, useDecision } from "./use-decision.ts";
import { Time } from "../../parts/formats.tsx";

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

/** What a skill asks for in words, then exactly. */
function RequestedCapabilities({
  permissions: { wants },
  expects,
}: {
  readonly permissions: SkillPermissions;
  /** Tools of the agent that its author lists. */
  readonly expects: readonly string[];
}): JSX.Element {
  const exact: readonly (readonly [string, readonly string[]])[] = [
    ["Network", wants.network],
    ["Secrets", wants.secrets],
    ["Project", wants.project === "none" ? [] : [wants.project]],
    ["Isolation", wants.isolation === undefined ? [] : [wants.isolation]],
  ];
  const given = exact.filter(([, values]) => values.length > 0);
  return (
    <>
      <h3>What it wants</h3>
      {wants.words.length === 0 ? (
        <p class="muted">Nothing beyond its sandbox.</p>
      ) : (
        <ul class="requested">
          {wants.words.map((words) => (
            <li key={words}>
              <ForeignText text={words} limit={Infinity} />
            </li>
          ))}
        </ul>
      )}
      {expects.length > 0 && (
        <p class="muted">
          Its author expects the agent's tools: <ForeignText text={expects.join(", ")} limit={Infinity} />
        </p>
      )}
      {given.length > 0 && (
        <dl class="fields">
          {given.map(([name, values]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <ul class="values">
                  {values.map((value) => (
                    <li key={value}>
                      <code>
                        <ForeignText text={value} limit={Infinity} />
                      </code>
                    </li>
                  ))}
                </ul>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

interface Properties {
  readonly grants: readonly SkillGrant[];
  /** Absent where nothing can be decided. */
  readonly onRevoke: ((grant: string) => void) | undefined;
}

/** Every approval that stands, each for exact files. */
function Grants({ grants, onRevoke }: Properties): JSX.Element | null {
  if (grants.length === 0) return null;
  return (
    <>
      <h3>Approvals</h3>
      <ul class="cards">
        {grants.map((grant) => (
          <li key={grant.id}>
            <p class="title">
              <span>
                Version <ForeignText text={grant.version} limit={80} />
              </span>
              <span class={`mark ${grant.isCurrent ? "good" : "muted"}`}>
                {grant.isCurrent ? "as installed now" : "other files than those installed now"}
              </span>
            </p>
            <p class="facts">
              <span>
                by <ForeignText text={grant.who} limit={80} />
              </span>
              <span>
                <Time at={Date.parse(grant.when)} />
              </span>
              <span>
                {grant.project === undefined ? "everywhere" : <ForeignText text={`in ${grant.project}`} limit={200} />}
              </span>
              {grant.expires !== undefined && (
                <span>
                  until <Time at={Date.parse(grant.expires)} />
                </span>
              )}
            </p>
            <ul class="requested">
              {grant.words.map((words) => (
                <li key={words}>
                  <ForeignText text={words} limit={Infinity} />
                </li>
              ))}
            </ul>
            <div class="bar">
              <Digest digest={grant.digest} what="digest of the approved files" />
              {onRevoke !== undefined && (
                <button type="button" class="button danger" onClick={() => onRevoke(grant.id)}>
                  Revoke …
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
