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

/** A link inside the browser. A plain click opens the route even if the browser does not own the URL; a modified click opens a tab. */
export function RouteLink({ to, isCurrent = false, class: className, children }: RouteLinkProps): JSX.Element {
  const { navigation } = useBrowser();
  const open = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigation.open(to);
  };
  return (
    <a class={className} href={formatRoute(to)} aria-current={isCurrent ? "page" : undefined} onClick={open}>
      {children}
    </a>
  );
}

/** A link to a skill. Without `id`, the slug is made of the name: the ledger has canonical names. */
export function skillLink(name: string, id = name.replaceAll(".", "-")): JSX.Element {
  return (
    <RouteLink key={id} to={{ view: "skills", skill: id }}>
      {foreignText(name, 128)}
    </RouteLink>
  );
}

/** Names of skills, shown when the user opens `title`. `total`: the number of all skills, named or not. */
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
