import type { JSX } from "preact";
import { Icon } from "../parts/icon.tsx";
import { RouteLink } from "../parts/route-link.tsx";
import { useBrowser } from "../state/browser.ts";
import { themes } from "../state/theme.ts";
import { otherViews } from "../views.tsx";

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const;

/** The name, the views, and what concerns all of them. */
export function Masthead({ onShortcuts }: { readonly onShortcuts: () => void }): JSX.Element {
  const { places, theme, source } = useBrowser();
  const { view } = places.current.value.route;
  const nextTheme = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
  return (
    <header class="masthead">
      <h1>
        <Icon name="book" />
        Skills
      </h1>
      <nav aria-label="Views">
        {source.server !== undefined && (
          <ul>
            <li>
              <RouteLink to={{ view: "skills" }} isCurrent={view === "skills"}>
                <Icon name="search" />
                Browse
              </RouteLink>
            </li>
            {otherViews.map((other) => (
              <li key={other.view}>
                <RouteLink to={{ view: other.view }} isCurrent={view === other.view}>
                  <Icon name={other.icon} />
                  {other.title}
                </RouteLink>
              </li>
            ))}
          </ul>
        )}
      </nav>
      <div class="tools">
        <button
          type="button"
          class="button plain"
          title={`Theme: ${theme.value}`}
          aria-label={`Theme: ${theme.value}. Change to ${nextTheme}`}
          onClick={() => (theme.value = nextTheme)}
        >
          <Icon name={themeIcons[theme.value]} />
        </button>
        <button
          type="button"
          class="button plain"
          title="Keyboard shortcuts"
          aria-label="Keyboard shortcuts"
          onClick={onShortcuts}
        >
          <Icon name="keyboard" />
        </button>
      </div>
    </header>
  );
}
