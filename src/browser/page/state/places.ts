import { signal, type ReadonlySignal } from "@preact/signals";
import {
  formatPageLocation,
  noFilter,
  parsePageLocation,
  type Filter,
  type PageLocation,
  type Route,
} from "./place.ts";

/** Where the browser is, kept in the page's URL (`createUrlNavigation`) or only in memory (`createMemoryNavigation`). */
export interface PageNavigation {
  readonly current: ReadonlySignal<PageLocation>;
  /** Opens a route, as a step that Back undoes. */
  open(route: Route): void;
  /** Narrows the list, without a step of its own. */
  narrow(filter: Filter): void;
  /** Goes where Back would, or to the list if there is nothing to go back to. */
  back(): void;
  close(): void;
}

/** Browsers refuse many changes of the address in a short time, and typing makes one for every key. */
const settleMilliseconds = 200;

export function createMemoryNavigation(): PageNavigation {
  const current = signal<PageLocation>({ route: { view: "skills" }, filter: noFilter });
  return {
    current,
    open: (route) => (current.value = { ...current.value, route }),
    narrow: (filter) => (current.value = { ...current.value, filter }),
    back: () => (current.value = { ...current.value, route: outerRoute(current.value.route) }),
    close: () => undefined,
  };
}

export function createUrlNavigation(window: Window): PageNavigation {
  const read = (): PageLocation => parsePageLocation(window.location.search, window.location.hash);
  const current = signal(read());
  let settling: number | undefined;
  const address = (): string => `${window.location.pathname}${formatPageLocation(current.value)}`;
  const settle = (): void => {
    if (settling === undefined) return;
    window.clearTimeout(settling);
    settling = undefined;
    window.history.replaceState(window.history.state, "", address());
  };
  const reread = (): void => {
    window.clearTimeout(settling);
    settling = undefined;
    current.value = read();
  };
  window.addEventListener("popstate", reread);
  window.addEventListener("pagehide", settle);

  const open = (route: Route): void => {
    settle();
    current.value = { ...current.value, route };
    window.history.pushState({ isInner: true }, "", address());
  };
  return {
    current,
    open,
    narrow: (filter) => {
      current.value = { ...current.value, filter };
      window.clearTimeout(settling);
      settling = window.setTimeout(settle, settleMilliseconds);
    },
    back: () => {
      const outer = outerRoute(current.value.route);
      if (outer !== current.value.route) open(outer);
    },
    close: () => {
      settle();
      window.removeEventListener("popstate", reread);
      window.removeEventListener("pagehide", settle);
    },
  };
}

/** From a skill to the list. */
function outerRoute(route: Route): Route {
  return route.view === "skills" && route.skill === undefined ? route : { view: "skills" };
}
