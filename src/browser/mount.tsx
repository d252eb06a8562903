import { signal } from "@preact/signals";
import { render } from "preact";
import { App } from "./app.tsx";
import { sharedSheets } from "./look/sheets.ts";
import type { SkillSource } from "./source/skill-source.ts";
import { BrowserProvider, type Browser } from "./state/browser.ts";
import { createMemoryPlaces, createUrlPlaces } from "./state/places.ts";
import { createShownSkills } from "./state/shown-skills.ts";
import { createTheme } from "./state/theme.ts";

/** Renders a browser into a shadow root; the returned function removes it and ends everything that it started. */
export function mount(root: ShadowRoot, source: SkillSource, isPage: boolean): () => void {
  const places = isPage ? createUrlPlaces(window) : createMemoryPlaces();
  const browser: Browser = {
    source,
    places,
    shown: createShownSkills(source, places),
    theme: createTheme(() => localStorage),
    announcement: signal(""),
    isPage,
  };
  root.adoptedStyleSheets = [...sharedSheets()];
  render(
    <BrowserProvider value={browser}>
      <App />
    </BrowserProvider>,
    root,
  );
  return () => {
    render(null, root);
    places.close();
    source.close();
  };
}
