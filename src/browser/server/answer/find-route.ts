import type { BrowseRoute } from "../browse-door.ts";

/** A route with what its colons stand for, or the methods that the path has. */
export type FoundRoute =
  | { readonly route: BrowseRoute; readonly params: ReadonlyMap<string, string> }
  | { readonly methods: readonly string[] };

/** Finds the route of a path; undefined if there is none. HEAD is answered as GET. */
export function findRoute(
  routes: readonly BrowseRoute[],
  { method, path }: { readonly method: string; readonly path: string },
): FoundRoute | undefined {
  const segments = path.split("/");
  const methods: string[] = [];
  for (const route of routes) {
    const params = match(route.path.split("/"), segments);
    if (params === undefined) continue;
    if (route.method === (method === "HEAD" ? "GET" : method)) return { route, params };
    methods.push(...(route.method === "GET" ? ["GET", "HEAD"] : [route.method]));
  }
  return methods.length === 0 ? undefined : { methods };
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
    const decoded = decode(segment);
    if (decoded === undefined || decoded === "") return undefined;
    params.set(part.slice(1), decoded);
  }
  return params;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // Not percent-encoded UTF-8.
  }
}
