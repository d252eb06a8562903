import type { JSX } from "preact";
import { Empty } from "../parts/empty.tsx";
import { useBrowser } from "../state/browser.ts";
import { noFilter } from "../state/place.ts";

/** Why there is nothing in the list. */
export function EmptyList(): JSX.Element {
  const { source, places } = useBrowser();
  const list = source.list.value;
  if (list === undefined) return <Unread />;
  if (list.skills.length > 0)
    return (
      <Empty icon="search" title="No skill matches">
        <p>Fewer words or filters find more.</p>
        <button type="button" class="button" onClick={() => places.narrow(noFilter)}>
          Show all {list.skills.length} skills
        </button>
      </Empty>
    );
  return (
    <Empty icon="book" title="There are no skills yet">
      <p>
        A directory with a <code>SKILL.md</code> in <code>.agents/skills</code> of the project, or in{" "}
        <code>~/.agents/skills</code>, appears here as soon as it is saved.
      </p>
    </Empty>
  );
}

function Unread(): JSX.Element {
  switch (useBrowser().source.connection.value.status) {
    case "refused":
      return <Empty icon="ban" title="This page has no access to the server" />;
    case "lost":
      return <Empty icon="plug" title="The server does not answer" />;
    case "connecting":
    case "live":
      return (
        <div class="late">
          <Empty icon="book" title="Reading skills…" />
        </div>
      );
  }
}
