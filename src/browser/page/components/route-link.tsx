import type { ComponentChildren, JSX } from "preact";
import { useBrowser } from "../state/browser.ts";
import { foreignText } from "./foreign-text.tsx";
import { formatRoute, type Route } from "../state/location.ts";

interface RouteLinkProps {
  readonly to: Route;
  readonly isCurrent?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A link inside the browser. It works where the URL is not ours, too; a modified click opens a tab where it is. */
export function RouteLink({ to, isCurrent = false, class: className, children }: RouteLinkProps): JSX.Element {
  const { places } = useBrowser();
  const open = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    places.open(to);
  };
  return (
    <a class={className} href={formatRoute(to)} aria-current={isCurrent ? "page" : undefined} onClick={open}>
      {children}
    </a>
  );
}

/** A link to a skill. Names of the ledger are canonical; ids are slugs. */
export function skillLink(name: string, id = name.replaceAll(".", "-")): JSX.Element {
  return (
    <RouteLink key={id} to={{ view: "skills", skill: id }}>
      {foreignText(name, 128)}
    </RouteLink>
  );
}

/** Names of skills, shown when they are asked for; `total`: how many there are in all. */
export function skillNames(title: string, names: readonly string[], total: number): JSX.Element | undefined {
  if (names.length === 0) return undefined;
  return (
    <details>
      <summary>{title}</summary>
      <p class="names">
        {names.map((name) => skillLink(name))}
        {total > names.length && <span class="muted">and {total - names.length} more</span>}
      </p>
    </details>
  );
}
