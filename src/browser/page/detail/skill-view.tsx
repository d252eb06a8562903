import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button, Empty, Icon } from "../components/icon.tsx";
import { toVisible, foreignName, foreignText } from "../components/foreign-text.tsx";
import { RouteLink } from "../components/route-link.tsx";
import { toEventDetail, useBrowser } from "../state/browser.ts";
import { tabs } from "./tabs.ts";
import { useDetail } from "./use-detail.ts";
import { isStated, Mark, stateDisplays } from "../components/state-mark.tsx";
import type { KnownDetail, SourceError } from "../source/skill-source.ts";

interface SkillViewProps {
  /** The id of the skill, as in its row. */
  readonly id: string;
  /** The tab that the URL names after the skill. `item`: the item shown in the tab, such as a file. */
  readonly tab: string | undefined;
  readonly item: string | undefined;
}

/** One skill: its header, and one of the tabs about it. When files change, the view updates: tab, scroll position and open nodes stay. */
export function SkillDetailView({ id, tab, item }: SkillViewProps): JSX.Element {
  const { navigation, source } = useBrowser();
  const shown = source.server === undefined ? tabs.slice(0, 1) : tabs;
  const current = shown.find(({ name }) => name === tab) ?? tabs[0];
  const { reading, reload } = useDetail(id, current.sections);
  const body = useRef<HTMLDivElement>(null);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    body.current?.scrollTo(0, 0);
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tab]);

  const { detail, sections, isGone, error } = reading;
  if (detail === undefined && error !== undefined) return <Unread error={error} onRetry={() => void reload()} />;
  if (detail === undefined && !isGone) return <Empty icon="book" title="Reading the skill …" />;
  if (detail === undefined)
    return (
      <Empty icon="question" title={`There is no skill ${toVisible(id, 80)}.`}>
        <RouteLink to={{ view: "skills" }} class="button">
          Show all skills
        </RouteLink>
      </Empty>
    );

  const isRead = current.sections.every((section) => sections.has(section));
  return (
    <div class="skill">
      <SkillHeader detail={detail} />
      {isGone && (
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
            isRemoved={isGone}
            reload={reload}
            openTab={(to, what) => navigation.open({ view: "skills", skill: id, tab: to, item: what })}
          />
        ) : error === undefined ? (
          <Empty icon="book" title="Reading …" isLate />
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
      <Button text="Try again" onClick={onRetry} />
    </Empty>
  );
}

/** The header of a skill: its name, state, kind and source. */
function SkillHeader({ detail: { row, installed } }: { readonly detail: KnownDetail }): JSX.Element {
  const { isInvokable, notify, source } = useBrowser();
  const { id, state, kind, version, folder, canonicalName } = row;
  const isToDecide = source.server !== undefined && (state === "needs-approval" || state === "changed");
  const mark = <Mark {...stateDisplays[state]} />;
  const facts = [
    ...(isStated(version) ? [`version ${version}`] : []),
    ...(folder === undefined ? [] : [`in the folder ${folder}`]),
    ...(canonicalName === undefined ? [] : [`called ${canonicalName}`]),
    `from ${installed?.source ?? row.source}${installed?.isModified === true ? ", changed here since it was installed" : ""}`,
  ];
  return (
    <header class="skill-header">
      <div>
        <h2>{foreignName(row.name)}</h2>
        <p class="facts">
          {isToDecide ? <RouteLink to={{ view: "skills", skill: id, tab: "permissions" }}>{mark}</RouteLink> : mark}
          <span>{kind}</span>
          {facts.map((fact) => foreignText(fact, 200))}
        </p>
        {isInvokable && (
          <Button kind="primary" text="Use this skill" onClick={() => notify("acp-skill-invoke", toEventDetail(row))} />
        )}
      </div>
    </header>
  );
}
