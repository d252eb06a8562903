import { signal, useSignal } from "@preact/signals";
import { render, type JSX } from "preact";
import { BrowserApp } from "../app.tsx";
import styles from "../styles/browser.css?url";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import { BrowserProvider, type Browser, createTheme } from "../state/browser.ts";
import { createMemoryNavigation, createUrlNavigation } from "../state/location.ts";
import { createSkillListState } from "../state/shown-skills.ts";

/**
 * Renders a browser into a shadow root. The returned function removes the browser and ends everything that it started. `theme`: the theme
 * that the surrounding page sets, if any.
 */
export function mount(
  root: ShadowRoot,
  source: BrowserSkillSource,
  { isPage, theme, isInvokable, notify }: Pick<Browser, "isPage" | "theme" | "isInvokable" | "notify">,
): () => void {
  const navigation = isPage ? createUrlNavigation(window) : createMemoryNavigation();
  const browser: Browser = {
    source,
    navigation,
    shown: createSkillListState(source, navigation),
    // In a page of another application, the browser neither chooses the theme nor uses the storage.
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
    navigation.close();
    source.close();
  };
}

/** Waits for the stylesheet, so that nothing is shown or measured without it. If it cannot be loaded, the browser is shown plain. */
function Styled(): JSX.Element {
  const isStyled = useSignal(false);
  const showApp = (): void => void (isStyled.value = true);
  const fail = (): void => {
    // Only the developer of the surrounding page, who reads the console, can mend this.
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
