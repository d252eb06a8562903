import { facetNames, type ChosenFacets } from "../../../client/select.ts";

/** What is shown, and how the list is filtered. All of it stands in the URL. */
export interface PageLocation {
  readonly route: Route;
  readonly filter: Filter;
}

export type Route =
  | { readonly view: "skills"; readonly skill?: string; readonly tab?: string; readonly item?: string }
  | { readonly view: "sessions" | "budget" | "sources" };

export type View = Route["view"];

/** `facets`: the chosen values by facet; within one facet any may match, of several all must. */
export interface Filter {
  readonly query: string;
  readonly facets: ChosenFacets;
}

export const noFilter: Filter = { query: "", facets: {} };

const otherViews = ["sessions", "budget", "sources"] as const;

/** Understands any hash and query; what it does not know, it ignores. */
export function parsePageLocation(search: string, hash: string): PageLocation {
  const parameters = new URLSearchParams(search);
  const chosen: Record<string, readonly string[]> = {};
  for (const facet of facetNames) {
    const values = [...new Set(parameters.getAll(facet))].slice(0, 100);
    if (values.length > 0) chosen[facet] = values;
  }
  return { route: parseRoute(hash), filter: { query: (parameters.get("q") ?? "").slice(0, 500), facets: chosen } };
}

/** The query and hash of a place, to be put behind the page's path. */
export function formatPageLocation({ route, filter }: PageLocation): string {
  const parameters = new URLSearchParams();
  if (filter.query !== "") parameters.set("q", filter.query);
  for (const [facet, values] of Object.entries(filter.facets))
    for (const value of values) parameters.append(facet, value);
  const search = parameters.toString();
  return `${search === "" ? "" : `?${search}`}${formatRoute(route)}`;
}

/** The hash of a route, as a link has it. */
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
  const [skill, tab, item] = rest.map(decode);
  return {
    view: "skills",
    ...(skill && { skill }),
    ...(skill && tab && { tab }),
    ...(skill && tab && item && { item }),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
