import type { ComponentChildren, JSX } from "preact";
import { useBrowser } from "../state/browser.ts";
import { formatRoute, type Route } from "../state/location.ts";

/** A link inside the browser. It works where the URL is not ours, too; a modified click opens a tab where it is. */
export function RouteLink({
  to,
  isCurrent = false,
  class: className,
  children,
}: {
  readonly to: Route;
  readonly isCurrent?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
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
