import { signal, type ReadonlySignal } from "@preact/signals";
import { facetNames, type ChosenFacets } from "../../../client/select.ts";

/** The route and the filter of the list. The URL has all of both. */
interface PageLocation {
  readonly route: Route;
  readonly filter: Filter;
}

export type Route =
  | { readonly view: "skills"; readonly skill?: string; readonly tab?: string; readonly item?: string | undefined }
  | { readonly view: "sessions" | "budget" | "sources" };

export type View = Route["view"];

/** `facets`: the chosen values by facet. In every facet with choices, a skill must have one of the chosen values. */
interface Filter {
  readonly query: string;
  readonly facets: ChosenFacets;
}

export const noFilter: Filter = { query: "", facets: {} };

const otherViews = ["sessions", "budget", "sources"] as const;

/** Parses any hash and query; unknown segments and parameters are ignored. */
function parsePageLocation(search: string, hash: string): PageLocation {
  const parameters = new URLSearchParams(search);
  const chosen: Record<string, readonly string[]> = {};
  for (const facet of facetNames) {
    const values = [...new Set(parameters.getAll(facet))].slice(0, 100);
    if (values.length > 0) chosen[facet] = values;
  }
  return { route: parseRoute(hash), filter: { query: (parameters.get("q") ?? "").slice(0, 500), facets: chosen } };
}

/** The query and hash of a location, to be appended to the page's path. */
function formatPageLocation({ route, filter }: PageLocation): string {
  const parameters = new URLSearchParams();
  if (filter.query !== "") parameters.set("q", filter.query);
  for (const [facet, values] of Object.entries(filter.facets))
    for (const value of values) parameters.append(facet, value);
  const search = parameters.toString();
  return `${search === "" ? "" : `?${search}`}${formatRoute(route)}`;
}

/** The hash of a route, for the `href` of a link. */
export function formatRoute(route: Route): string {
  if (route.view !== "skills") return `#/${route.view}`;
  const parts = [route.skill, route.tab, route.item];
  const given = parts.slice(0, parts.includes(undefined) ? parts.indexOf(undefined) : parts.length);
  return `#/${["skills", ...given.map((part) => encodeURIComponent(part ?? ""))].join("/")}`;
}

function parseRoute(hash: string): Route {
  const [, view, ...rest] = hash.replace(/^#/, "").split("/");
  const other = otherViews.find((name) => name === view);
  if (other !== undefined) return { view: other };
  if (view !== "skills") return { view: "skills" };
  const [skill, tab, item] = rest.map((part) => decodeSegment(part, part));
  return {
    view: "skills",
    ...(skill && { skill }),
    ...(skill && tab && { tab }),
    ...(skill && tab && item && { item }),
  };
}

/** A segment of a URL without percent-encoding; `otherwise` if the encoding is not valid. */
export function decodeSegment(part: string, otherwise: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return otherwise;
  }
}

/** The current location, stored in the page's URL (`createUrlNavigation`) or only in memory (`createMemoryNavigation`). */
export interface PageNavigation {
  readonly current: ReadonlySignal<PageLocation>;
  /** Opens a route, as a step that Back undoes. */
  open(route: Route): void;
  /** Narrows the list, without a step of its own. */
  narrow(filter: Filter): void;
  /** Opens the list of skills from any other route, as a new step: never goes back in the history. */
  back(): void;
  close(): void;
}

/** The delay of changes of the URL: browsers refuse many in a short time, and typing makes one for every key. */
const debounceMs = 200;

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
      timer = window.setTimeout(writeUrl, debounceMs);
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

/** The route of the list; the given object if it is that route already. */
function outerRoute(route: Route): Route {
  return route.view === "skills" && route.skill === undefined ? route : { view: "skills" };
}
