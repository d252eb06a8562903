import { signal, useSignal } from "@preact/signals";
import { render, type JSX } from "preact";
import { BrowserApp } from "../app.tsx";
import styles from "../look/browser.css?url";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import { BrowserProvider, type Browser } from "../state/browser.ts";
import { createMemoryNavigation, createUrlNavigation } from "../state/places.ts";
import { createSkillListState } from "../state/shown-skills.ts";
import { createTheme } from "../state/theme.ts";

/** Renders a browser into a shadow root; the returned function removes it and ends everything that it started. */
export function mount(root: ShadowRoot, source: BrowserSkillSource, isPage: boolean): () => void {
  const places = isPage ? createUrlNavigation(window) : createMemoryNavigation();
  const browser: Browser = {
    source,
    places,
    shown: createSkillListState(source, places),
    theme: createTheme(() => localStorage),
    announcement: signal(""),
    isPage,
  };
  render(
    <BrowserProvider value={browser}>
      <Styled />
    </BrowserProvider>,
    root,
  );
  return () => {
    render(null, root);
    browser.shown.close();
    places.close();
    source.close();
  };
}

/** Waits for the stylesheet, so that nothing is seen or measured without it; if it cannot be had, the browser is better plain than missing. */
function Styled(): JSX.Element {
  const isSettled = useSignal(false);
  const settle = (): void => {
    isSettled.value = true;
  };
  return (
    <>
      <link rel="stylesheet" href={styles} onLoad={settle} onError={settle} />
      {isSettled.value && <BrowserApp />}
    </>
  );
}
