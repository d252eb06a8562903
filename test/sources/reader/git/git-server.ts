import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";

export const hasGit = runs("git", "--version");
export const whyNoGit = hasGit ? "" : " (skipped: git is not installed)";

function runs(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Contents by path; `null` is nothing, a link is `{link}`. */
export type Contents = Readonly<
  Record<string, string | Buffer | { readonly link: string } | { readonly script: string }>
>;

/** A repository with a working tree, made with the real git. */
export class TestRepository {
  readonly directory = mkdtempSync(path.join(tmpdir(), "acp-skills-test-repo-"));

  constructor(contents: Contents = {}, ...init: string[]) {
    this.git("init", "-q", "-b", "main", ...init);
    this.git("config", "uploadpack.allowAnySHA1InWant", "true");
    if (Object.keys(contents).length > 0) this.commit(contents);
  }

  git(...args: string[]): string {
    const env = { PATH: process.env.PATH, HOME: this.directory, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };
    const identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "core.protectNTFS=false"];
    return execFileSync("git", [...identity, ...args], {
      cwd: this.directory,
      env,
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  }

  /** Writes and commits; returns the commit. */
  commit(contents: Contents): string {
    for (const [name, content] of Object.entries(contents)) {
      const file = path.join(this.directory, name);
      mkdirSync(path.dirname(file), { recursive: true });
      if (typeof content === "string" || Buffer.isBuffer(content)) writeFileSync(file, content);
      else if ("link" in content) symlinkSync(content.link, file);
      else writeFileSync(file, content.script, { mode: 0o755 });
    }
    this.git("add", "-A");
    this.git("commit", "-q", "-m", "x");
    return this.head;
  }

  /** Commits a tree made of raw entries, which git itself would not add: any mode, any path. */
  commitRaw(entries: readonly { readonly mode: string; readonly path: string; readonly content: string }[]): string {
    const lines = entries.map(({ mode, path: name, content }) => {
      const file = path.join(this.directory, ".git", "raw");
      writeFileSync(file, content);
      const id = mode === "40000" ? content : this.git("hash-object", "-w", file);
      return Buffer.concat([Buffer.from(`${mode.replace(/^0/, "")} ${name}\0`), Buffer.from(id, "hex")]);
    });
    const file = path.join(this.directory, ".git", "raw");
    writeFileSync(file, Buffer.concat(lines));
    const tree = this.git("hash-object", "-w", "-t", "tree", "--literally", file);
    const commit = this.git("commit-tree", "-m", "raw", tree);
    this.git("update-ref", "refs/heads/main", commit);
    return commit;
  }

  get head(): string {
    return this.git("rev-parse", "refs/heads/main");
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface GitServer {
  readonly url: string;
  readonly port: number;
  readonly requests: string[];
  close(): Promise<void>;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Serves repositories by name over git's smart HTTP on loopback. `answer` may answer first. */
export async function serveGit(
  repositories: Readonly<Record<string, string>>,
  answer: Answer = () => false,
): Promise<GitServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
    if (answer(request, response)) return;
    const { pathname } = new URL(request.url ?? "/", "http://x");
    const [, name = "", service = ""] = /^\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack)$/.exec(pathname) ?? [];
    const directory = repositories[name];
    if (directory === undefined) {
      response.writeHead(404).end();
      return;
    }
    const isList = service === "info/refs";
    const type = `application/x-git-upload-pack-${isList ? "advertisement" : "result"}`;
    const protocol = request.headers["git-protocol"];
    const child = spawn("git", ["upload-pack", "--stateless-rpc", ...(isList ? ["--advertise-refs"] : []), directory], {
      env: {
        PATH: process.env.PATH,
        HOME: directory,
        ...(typeof protocol === "string" && { GIT_PROTOCOL: protocol }),
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.stdin.on("error", () => undefined);
    response.writeHead(200, { "content-type": type, "cache-control": "no-cache" });
    if (isList) {
      if (protocol === undefined || protocol !== "version=2") response.write("001e# service=git-upload-pack\n0000");
      child.stdin.end();
      child.stdout.pipe(response);
      return;
    }
    const body: Buffer[] = [];
    request.on("data", (chunk: Buffer) => body.push(chunk));
    request.on("end", () => {
      const all = Buffer.concat(body);
      child.stdin.end(request.headers["content-encoding"] === "gzip" ? gunzipSync(all) : all);
      child.stdout.pipe(response);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
