import { signal, useSignal } from "@preact/signals";
import { render, type JSX } from "preact";
import { BrowserApp } from "../app.tsx";
import styles from "../styles/browser.css?url";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import { BrowserProvider, type Browser, createTheme } from "../state/browser.ts";
import { createMemoryNavigation, createUrlNavigation } from "../state/location.ts";
import { createSkillListState } from "../state/shown-skills.ts";

/**
 * Renders a browser into a shadow root; the returned function removes it and ends everything that it started. `theme`: what the page around
 * it says; null: nothing.
 */
export function mount(
  root: ShadowRoot,
  source: BrowserSkillSource,
  { isPage, theme, isInvokable, notify }: Pick<Browser, "isPage" | "theme" | "isInvokable" | "notify">,
): () => void {
  const places = isPage ? createUrlNavigation(window) : createMemoryNavigation();
  const browser: Browser = {
    source,
    places,
    shown: createSkillListState(source, places),
    // The theme of a page of others is not ours to choose, nor is what its storage has.
    theme: isPage ? createTheme(() => localStorage) : theme,
    announcement: signal(""),
    isPage,
    isInvokable,
    notify,
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
  const isStyled = useSignal(false);
  const showApp = (): void => void (isStyled.value = true);
  const fail = (): void => {
    // Only whoever put the element into their page can mend this, and reads the console.
    // eslint-disable-next-line no-console
    console.warn(`<acp-skill-browser> has no styles: ${styles} cannot be loaded. Serve browser.css beside its script.`);
    showApp();
  };
  return (
    <>
      <link rel="stylesheet" href={styles} onLoad={showApp} onError={fail} />
      {isStyled.value && <BrowserApp />}
    </>
  );
}
