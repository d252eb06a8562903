import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { ConnectionLine } from "./shell/connection-line.tsx";
import { Masthead } from "./shell/masthead.tsx";
import { ShortcutSheet } from "./shell/shortcut-sheet.tsx";
import { useShortcuts } from "./shell/use-shortcuts.ts";
import { SkillsView } from "./list/skills-view.tsx";
import { useBrowser } from "./state/browser.ts";
import { otherViews } from "./views.tsx";

/** The whole browser: what stands around every view, and the view of the route. */
export function BrowserApp(): JSX.Element {
  const { places, theme, announcement } = useBrowser();
  const { route } = places.current.value;
  const root = useRef<HTMLDivElement>(null);
  const main = useRef<HTMLElement>(null);
  const sheet = useRef<HTMLDialogElement>(null);
  useShortcuts(root, sheet);
  const other = otherViews.find(({ view }) => view === route.view);

  return (
    <div class="browser" data-theme={theme.value} ref={root}>
      <button type="button" class="button skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Masthead onShortcuts={() => sheet.current?.showModal()} />
      <ConnectionLine />
      <main ref={main} tabIndex={-1}>
        {other === undefined ? (
          <SkillsView />
        ) : (
          <div class="page">
            <other.Content />
          </div>
        )}
      </main>
      <p class="unseen" role="status">
        {announcement.value}
      </p>
      <ShortcutSheet dialog={sheet} />
    </div>
  );
}
