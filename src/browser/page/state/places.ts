import { signal, type ReadonlySignal } from "@preact/signals";
import {
  formatPageLocation,
  noFilter,
  parsePageLocation,
  type Filter,
  type PageLocation,
  type Route,
} from "./place.ts";

/** The current location, stored in the page's URL (`createUrlNavigation`) or only in memory (`createMemoryNavigation`). */
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
const debounceMilliseconds = 200;

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
  let timer: number | undefined;
  const address = (): string => `${window.location.pathname}${formatPageLocation(current.value)}`;
  const writeUrl = (): void => {
    if (timer === undefined) return;
    window.clearTimeout(timer);
    timer = undefined;
    window.history.replaceState(window.history.state, "", address());
  };
  const reread = (): void => {
    window.clearTimeout(timer);
    timer = undefined;
    current.value = read();
  };
  window.addEventListener("popstate", reread);
  window.addEventListener("pagehide", writeUrl);

  const open = (route: Route): void => {
    writeUrl();
    current.value = { ...current.value, route };
    window.history.pushState({ isInner: true }, "", address());
  };
  return {
    current,
    open,
    narrow: (filter) => {
      current.value = { ...current.value, filter };
      window.clearTimeout(timer);
      timer = window.setTimeout(writeUrl, debounceMilliseconds);
    },
    back: () => {
      const outer = outerRoute(current.value.route);
      if (outer !== current.value.route) open(outer);
    },
    close: () => {
      writeUrl();
      window.removeEventListener("popstate", reread);
      window.removeEventListener("pagehide", writeUrl);
    },
  };
}

/** The list, for a route that is inside it. */
function outerRoute(route: Route): Route {
  return route.view === "skills" && route.skill === undefined ? route : { view: "skills" };
}
