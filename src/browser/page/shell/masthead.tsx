import type { JSX } from "preact";
import { IconButton, Icon } from "../components/icon.tsx";
import { foreignText, toVisible } from "../components/foreign-text.tsx";
import { RouteLink } from "../components/route-link.tsx";
import { useBrowser, themes } from "../state/browser.ts";
import { otherViews } from "../views.tsx";

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const;

const links = [{ view: "skills", icon: "search", title: "Browse" } as const, ...otherViews];

/** The title, the links to the views, and the tools of all views. */
export function Masthead({ onShortcuts }: { readonly onShortcuts: () => void }): JSX.Element {
  const { navigation, theme, source, isPage } = useBrowser();
  const { view } = navigation.current.value.route;
  const current = theme.value ?? "system";
  const nextTheme = themes[(themes.indexOf(current) + 1) % themes.length] ?? "system";
  const directory = source.server?.about.value?.directory;
  // In a page of another application, this is neither the banner nor the title.
  const Bar = isPage ? "header" : "div";
  const Title = isPage ? "h1" : "h2";
  return (
    <Bar class="masthead">
      <Title>
        <Icon name="book" />
        Skills
        {directory !== undefined && (
          <span class="project" title={toVisible(directory)}>
            {foreignText(projectName(directory), 80)}
          </span>
        )}
      </Title>
      {source.server !== undefined && (
        <nav aria-label="Views">
          <ul>
            {links.map((link) => (
              <li key={link.view}>
                <RouteLink to={{ view: link.view }} isCurrent={view === link.view}>
                  <Icon name={link.icon} />
                  {link.title}
                </RouteLink>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <div class="tools">
        {isPage && (
          <IconButton
            icon={themeIcons[current]}
            label={`Theme: ${current}. Change to ${nextTheme}`}
            onClick={() => (theme.value = nextTheme)}
          />
        )}
        <IconButton icon="keyboard" label="Keyboard shortcuts" onClick={onShortcuts} />
      </div>
    </Bar>
  );
}

/** The last segment of a project's path. */
export function projectName(directory: string): string {
  return /[^\\/]+(?=[\\/]*$)/.exec(directory)?.[0] ?? directory;
}

/** Says when the page may not be up to date, and why. Empty while the connection works. */
export function ConnectionLine(): JSX.Element {
  const status = useBrowser().source.connection.value;
  return (
    <div class="connection" role="status">
      {(status === "lost" || status === "refused") && <Icon name={status === "lost" ? "alert" : "ban"} />}
      {status === "lost" && (
        <span>The server does not answer. This page shows the last it heard, and keeps trying.</span>
      )}
      {status === "refused" && (
        <span>
          This address is no longer valid. Run <code>acp-skills browse</code> in a terminal and open the address that it
          prints.
        </span>
      )}
    </div>
  );
}
