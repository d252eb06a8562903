import { attempt } from "../base/failures/system-error.ts";
import { type HttpRefusal, nothingHere } from "../wire/http.ts";

/** The method and path of a route. A segment that starts with a colon matches any one segment, percent-decoded: `/skills/:slug`. */
interface Routable {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
}

/** The result of routing a request: a route, or a refusal. */
export type Routed<Route extends Routable> =
  | { readonly route: Route; readonly path: string; readonly params: ReadonlyMap<string, string> }
  /** `path`: the template of a path that has other methods only. */
  | { readonly refusal: HttpRefusal; readonly path: string | undefined };

interface Template<Route> {
  readonly path: string;
  readonly segments: readonly string[];
  readonly byMethod: Map<string, Route>;
}

/** Creates a router by method and path: 404 for paths without a route, 405 for other methods. HEAD is answered as GET. */
export function createRouter<Route extends Routable>(
  routes: readonly Route[],
): (method: string, path: string) => Routed<Route> {
  const exact = new Map<string, Template<Route>>();
  const patterns = new Map<string, Template<Route>>();
  for (const route of routes) {
    const { method, path } = route;
    const templates = path.includes(":") ? patterns : exact;
    const template = templates.get(path) ?? { path, segments: path.split("/"), byMethod: new Map<string, Route>() };
    if (!template.byMethod.has(method)) template.byMethod.set(method, route);
    templates.set(path, template);
  }

  function find(
    path: string,
  ): { readonly template: Template<Route>; readonly params: ReadonlyMap<string, string> } | undefined {
    const template = exact.get(path);
    if (template !== undefined) return { template, params: new Map() };
    const segments = path.split("/");
    for (const pattern of patterns.values()) {
      const params = match(pattern.segments, segments);
      if (params !== undefined) return { template: pattern, params };
    }
    return undefined;
  }

  return (method, path) => {
    const found = find(path);
    if (found === undefined) return { refusal: nothingHere, path: undefined };
    const { template, params } = found;
    const route = template.byMethod.get(method === "HEAD" ? "GET" : method);
    if (route !== undefined) return { route, path: template.path, params };
    const allow = [...template.byMethod.keys()]
      .flatMap((known) => (known === "GET" ? ["GET", "HEAD"] : [known]))
      .sort();
    const message = `Method not allowed; use ${allow.join(", ")}.`;
    const headers = { allow: allow.join(", ") };
    return { refusal: { status: 405, code: "INVALID_REQUEST", message, headers }, path: template.path };
  };
}

function match(pattern: readonly string[], segments: readonly string[]): ReadonlyMap<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params = new Map<string, string>();
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] ?? "";
    if (!part.startsWith(":")) {
      if (part !== segment) return undefined;
      continue;
    }
    // Undefined if the segment is not percent-encoded UTF-8.
    const decoded = attempt(() => decodeURIComponent(segment), undefined);
    if (decoded === undefined || decoded === "") return undefined;
    params.set(part.slice(1), decoded);
  }
  return params;
}
