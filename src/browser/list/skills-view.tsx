import type { JSX } from "preact";
import { SkillView } from "../detail/skill-view.tsx";
import { useBrowser } from "../state/browser.ts";

/** The list of skills and, where one is open, that skill: side by side where there is room, else one at a time. */
export function SkillsView(): JSX.Element {
  const { places, source } = useBrowser();
  const { route } = places.current.value;
  const skill = route.view === "skills" ? route.skill : undefined;
  return (
    <div class={skill === undefined ? "skills" : "skills has-detail"}>
      <section class="list-pane" aria-label="Skills">
        {source.list.value?.skills.slice(0, 20).map((row) => (
          <p key={row.id}>{row.name}</p>
        ))}
      </section>
      {route.view === "skills" && skill !== undefined && (
        <section class="detail-pane" aria-label="Skill">
          <SkillView key={skill} id={skill} tab={route.tab} item={route.item} />
        </section>
      )}
    </div>
  );
}
