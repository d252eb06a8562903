import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { SkillDetailView } from "../detail/skill-view.tsx";
import { Icon } from "../components/icon.tsx";
import { toEventDetail, useBrowser } from "../state/browser.ts";
import { ListPane } from "./list-pane.tsx";

/** The list of skills and the open skill, if any: side by side if there is space, else one at a time. */
export function SkillsView(): JSX.Element {
  const { navigation, shown, notify, source } = useBrowser();
  const { route } = navigation.current.value;
  const skill = route.view === "skills" ? route.skill : undefined;
  const list = useRef<HTMLDivElement>(null);
  const detail = useRef<HTMLElement>(null);
  const before = useRef(skill);
  if (skill !== undefined && before.current === undefined) shown.active.value ??= skill;

  // The focus moves into a skill that was opened, and back into the list.
  useLayoutEffect(() => {
    if (skill === before.current) return;
    before.current = skill;
    const row = source.list.value?.skills.find(({ id }) => id === skill);
    if (row !== undefined) notify("acp-skill-open", toEventDetail(row));
    (skill === undefined ? list.current : detail.current)?.focus({ preventScroll: true });
  }, [skill]);

  return (
    <div class={skill === undefined ? "skills" : "skills has-detail"}>
      <ListPane list={list} />
      {route.view === "skills" && skill !== undefined && (
        <section class="detail-pane" aria-label="Skill" tabIndex={-1} ref={detail}>
          <button type="button" class="button plain back" onClick={() => navigation.back()}>
            <Icon name="left" />
            All skills
          </button>
          <SkillDetailView key={skill} id={skill} tab={route.tab} item={route.item} />
        </section>
      )}
    </div>
  );
}
