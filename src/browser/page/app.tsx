import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ConnectionLine, Masthead, projectName } from "./shell/masthead.tsx";
import { ShortcutSheet, useShortcuts } from "./shell/shortcuts.tsx";
import { SkillsView } from "./list/skills-view.tsx";
import { useBrowser } from "./state/browser.ts";
import { otherViews } from "./views.tsx";
import { Button } from "./components/icon.tsx";

/** The whole browser: the frame around every view, and the view of the route. */
export function BrowserApp(): JSX.Element {
  const { navigation, theme, announcement, isPage, source } = useBrowser();
  const { route } = navigation.current.value;
  const root = useRef<HTMLDivElement>(null);
  const main = useRef<HTMLDivElement>(null);
  const sheet = useRef<HTMLDialogElement>(null);
  useShortcuts(root, sheet);
  const other = otherViews.find(({ view }) => view === route.view);

  const directory = source.server?.about.value?.directory;
  useEffect(() => {
    if (isPage && directory !== undefined) document.title = `${projectName(directory)} – Skills`;
  }, [isPage, directory]);
  const skip = (): void => {
    const list = main.current?.querySelector<HTMLElement>(".rows");
    (list?.checkVisibility() === true ? list : main.current)?.focus();
  };

  return (
    <div class="browser" data-theme={theme.value ?? undefined} ref={root}>
      <Button
        kind="skip"
        text={route.view === "skills" && route.skill === undefined ? "Skip to the list" : "Skip to content"}
        onClick={skip}
      />
      <Masthead onShortcuts={() => sheet.current?.showModal()} />
      <ConnectionLine />
      {/* A page has one main landmark; in a page of another application, that is not this element. */}
      <div class="main" ref={main} tabIndex={-1} role={isPage ? "main" : undefined}>
        {other === undefined ? (
          <SkillsView />
        ) : (
          <div class="page">
            <other.Content />
          </div>
        )}
      </div>
      <p class="unseen" role="status">
        {announcement.value}
      </p>
      <ShortcutSheet dialog={sheet} />
    </div>
  );
}
