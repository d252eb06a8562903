import type { JSX } from "preact";
import { RouteLink } from "../../../parts/route-link.tsx";
import { toVisible } from "../../../parts/visible-text.ts";

/** The session that used it, among all sessions. */
export function SessionLink({ session }: { readonly session: string }): JSX.Element {
  return (
    <span class="muted">
      <RouteLink to={{ view: "sessions" }}>session</RouteLink> <bdi class="mono">{toVisible(session, 40)}</bdi>
    </span>
  );
}

export function short(digest: string): string {
  return toVisible(digest.replace(/^sha256:/, "").slice(0, 12));
}
