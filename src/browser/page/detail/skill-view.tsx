import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Empty, Icon } from "../parts/icon.tsx";
import { toVisible, ForeignName, ForeignText } from "../parts/foreign-text.tsx";
import { RouteLink } from "../parts/route-link.tsx";
import { toEventDetail, useBrowser } from "../state/browser.ts";
import { tabs } from "./tabs.ts";
import { useDetail } from "./use-detail.ts";
import type { SkillRow } from "../../wire/skills.ts";
import { isStated, StateMark } from "../parts/state-mark.tsx";
import type { KnownDetail, SourceError } from "../source/skill-source.ts";

export interface SkillViewProps {
  /** The id of the skill, as in its row. */
  readonly id: string;
  /** What the URL names behind the skill: a tab, and what is shown in it. */
  readonly tab: string | undefined;
  readonly item: string | undefined;
}

/** One skill: what it is, and a tab of what is known about it. Changes on disk arrive in place: tab, scroll and open nodes stay. */
export function SkillDetailView({ id, tab, item }: SkillViewProps): JSX.Element {
  const { places, source } = useBrowser();
  const shown = source.server === undefined ? tabs.slice(0, 1) : tabs;
  const current = shown.find(({ name }) => name === tab) ?? tabs[0];
  const { reading, reload } = useDetail(id, current.parts);
  const body = useRef<HTMLDivElement>(null);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    body.current?.scrollTo(0, 0);
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tab]);

  if (reading.status === "reading") return <Empty icon="book" title="Reading the skill …" />;
  if (reading.status === "missing")
    return (
      <Empty icon="question" title={`There is no skill ${toVisible(id, 80)}.`}>
        <RouteLink to={{ view: "skills" }} class="button">
          Show all skills
        </RouteLink>
      </Empty>
    );
  if (reading.status === "failed") return <Unread error={reading.error} onRetry={() => void reload()} />;

  const { detail, parts, isRemoved, error } = reading;
  const isRead = current.parts.every((part) => parts.has(part));
  return (
    <div class="skill">
      <SkillHeader detail={detail} />
      {isRemoved && (
        <p class="caution" role="status">
          <Icon name="alert" />
          This skill was removed. What is shown here is the last that was known of it.
        </p>
      )}
      <nav class="tabs" aria-label="About this skill" ref={nav}>
        <ul>
          {shown.map(({ name, title, count }) => (
            <li key={name}>
              <RouteLink to={{ view: "skills", skill: id, tab: name }} isCurrent={name === current.name}>
                {title}
                {count !== undefined && count(detail) > 0 && <span class="count">{count(detail)}</span>}
              </RouteLink>
            </li>
          ))}
        </ul>
      </nav>
      <div class="tab" ref={body} tabIndex={0} role="region" aria-label={current.title}>
        {isRead ? (
          <current.Content
            key={current.name}
            detail={detail}
            item={item}
            isRemoved={isRemoved}
            reload={reload}
            openTab={(to, what) =>
              places.open({ view: "skills", skill: id, tab: to, ...(what !== undefined && { item: what }) })
            }
          />
        ) : error === undefined ? (
          <div class="late">
            <Empty icon="book" title="Reading …" />
          </div>
        ) : (
          <Unread error={error} onRetry={() => void reload()} />
        )}
      </div>
    </div>
  );
}

function Unread({ error, onRetry }: { readonly error: SourceError; readonly onRetry: () => void }): JSX.Element {
  return (
    <Empty icon="alert" title={error.message}>
      {error.hint !== undefined && <p>{error.hint}</p>}
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    </Empty>
  );
}

/** How it stands, and where something can be done about that. */
function Standing({ row: { id, state } }: { readonly row: SkillRow }): JSX.Element {
  const { source } = useBrowser();
  const isToDecide = source.server !== undefined && (state === "needs-approval" || state === "changed");
  if (!isToDecide) return <StateMark state={state} />;
  return (
    <RouteLink to={{ view: "skills", skill: id, tab: "permissions" }}>
      <StateMark state={state} />
    </RouteLink>
  );
}

/** What a skill is called, what it is, where it comes from. */
function SkillHeader({ detail: { row, installed } }: { readonly detail: KnownDetail }): JSX.Element {
  const { isInvokable, notify } = useBrowser();
  return (
    <header class="skill-header">
      <div>
        <h2>
          <ForeignName name={row.name} />
        </h2>
        <p class="facts">
          <Standing row={row} />
          <span>{row.kind}</span>
          {isStated(row.version) && (
            <span>
              version <ForeignText text={row.version} limit={40} />
            </span>
          )}
          {row.folder !== undefined && (
            <span>
              in the folder <ForeignText text={row.folder} limit={80} />
            </span>
          )}
          {row.canonicalName !== undefined && (
            <span>
              called <ForeignText text={row.canonicalName} limit={80} />
            </span>
          )}
          <span>
            from <ForeignText text={installed?.source ?? row.source} limit={120} />
            {installed?.isModified === true && ", changed here since it was installed"}
          </span>
        </p>
        {isInvokable && (
          <button type="button" class="button primary" onClick={() => notify("acp-skill-invoke", toEventDetail(row))}>
            Use this skill
          </button>
        )}
      </div>
    </header>
  );
}
