import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { inventDetail } from "./invented-detail.ts";
import type { About, SkillRow, SkillListChange } from "../../../src/browser/wire/skills.ts";

/** The API of the skill browser over a list in memory, under the headers that the real server sends. */
export interface FakeServer {
  readonly address: string;
  /** Puts and removes rows as one change, announced by an event. */
  change(put: readonly SkillRow[], removed?: readonly string[]): void;
  /** Ends every event stream, and refuses requests to the API until {@link FakeServer.returnToService}. */
  dropConnections(): void;
  returnToService(): void;
  /** The same for a server that was started again: its revisions begin anew, and it knows nothing of earlier events. */
  startAgain(skills: readonly SkillRow[]): void;
  /** The codes that were exchanged. */
  readonly codes: readonly string[];
  /** Answers every request with 401. */
  expire(): void;
  /** How many pages listen to events now. */
  listeners(): number;
  close(): Promise<void>;
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const about: About = { version: "0.0.0", readOnly: false, directory: "~/project", sandbox: { tier: "bubblewrap" } };

export async function startFakeServer(skills: readonly SkillRow[], page = pageOf("page.js")): Promise<FakeServer> {
  let rows = [...skills].sort(byName);
  let revision = 1;
  let starts = 1;
  const codes: string[] = [];
  let mode: "open" | "away" | "expired" = "open";
  const streams = new Set<ServerResponse>();
  const changes: SkillListChange[] = [];
  const rowAt = (pathname: string): SkillRow | undefined =>
    rows.find(({ id }) => pathname === `/api/skills/${encodeURIComponent(id)}`);
  const missedSince = (seen: number): string =>
    [
      ": resumed\n\n",
      ...changes.filter((change) => change.revision > seen).map((change) => toEvent(starts, change)),
    ].join("");

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    response.setHeader("content-security-policy", policy);
    if (pathname.startsWith("/api/")) {
      if (mode === "away") request.socket.destroy();
      else if (mode === "expired") answer(response, 401, { error: { code: "AUTH_REQUIRED", message: "Expired." } });
      else if (pathname === "/api/skills") answer(response, 200, { revision, skills: rows, unread: [] });
      else if (pathname === "/api/about") answer(response, 200, about);
      else if (pathname === "/api/sources") answer(response, 200, { places: [] });
      else if (pathname === "/api/session") {
        void text(request).then((body) => {
          codes.push((JSON.parse(body) as { code: string }).code);
          answer(response, 200, { key: "k" });
        });
      } else if (pathname === "/api/events") {
        response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
        const [epoch, seen] = String(request.headers["last-event-id"] ?? "")
          .split("-")
          .map(Number);
        response.write(
          epoch !== starts || seen === undefined
            ? `id: ${starts}-${revision}\nevent: reset\ndata: ${JSON.stringify({ revision })}\n\n`
            : missedSince(seen),
        );
        streams.add(response);
        response.on("close", () => streams.delete(response));
      } else if (rowAt(pathname) !== undefined) answer(response, 200, inventDetail(rowAt(pathname) as SkillRow));
      else if (pathname.endsWith("/files"))
        answer(response, 200, { path: "SKILL.md", content: "# A", encoding: "utf-8", sizeBytes: 3, truncated: false });
      else if (pathname.endsWith("/history")) answer(response, 200, { runs: [], events: [] });
      else answer(response, 404, { error: { code: "SKILL_NOT_FOUND", message: "There is no such skill." } });
      return;
    }
    const [, file, extension] = /^\/([\w-]+\.(js|css))$/.exec(pathname) ?? [];
    if (file === undefined) response.setHeader("content-type", "text/html; charset=utf-8").end(page);
    else {
      response.setHeader("content-type", extension === "css" ? "text/css" : "text/javascript");
      response.end(readFileSync(new URL(`../../../dist/browser/${file}`, import.meta.url)));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    address: `http://127.0.0.1:${port}`,
    change(put, removed = []) {
      const gone = new Set([...removed, ...put.map(({ id }) => id)]);
      rows = [...rows.filter(({ id }) => !gone.has(id)), ...put].sort(byName);
      const change: SkillListChange = { revision: ++revision, put, removed };
      changes.push(change);
      for (const stream of streams) stream.write(toEvent(starts, change));
    },
    dropConnections() {
      mode = "away";
      server.closeAllConnections();
    },
    returnToService() {
      mode = "open";
    },
    startAgain(skills) {
      rows = [...skills].sort(byName);
      revision = 1;
      starts += 1;
      changes.length = 0;
      mode = "open";
    },
    codes,
    expire() {
      mode = "expired";
      server.closeAllConnections();
    },
    listeners: () => streams.size,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A page that loads one script of ours, or none, beside what a test adds to it. */
export function pageOf(script?: string, body = ""): string {
  const styles = script === "page.js" ? `<link rel="stylesheet" href="/page.css">` : "";
  const tag = script === undefined ? "" : `${styles}<script type="module" src="/${script}"></script>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Skills</title><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">${tag}${body}`;
}

function toEvent(starts: number, change: SkillListChange): string {
  return `id: ${starts}-${change.revision}\nevent: skills\ndata: ${JSON.stringify(change)}\n\n`;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function byName(one: SkillRow, other: SkillRow): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}
