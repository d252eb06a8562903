import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attackCode, codeRun, python } from "./runs.ts";
import type { Trial } from "./tier.ts";

/** The permission `network`: only allowed hosts can be reached. The bait's listener represents all other hosts. */
export function describeEgress(trial: Trial): void {
  describe("an allowed network", () => {
    let server: Server;
    let port = 0;
    const requests: string[] = [];
    beforeAll(async () => {
      server = createServer((request, response) => {
        requests.push(`${request.method ?? ""} ${request.headers.host ?? ""} ${request.url ?? ""}`);
        const to = new URL(request.url ?? "", "http://x").searchParams.get("to");
        if (to !== null) response.writeHead(302, { location: to });
        response.end("from the server");
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      port = (server.address() as AddressInfo).port;
    });
    afterAll(() => server.close());

    const fetchAll = python`
      import http.client, urllib.error, urllib.parse, urllib.request

      def fetch(url):
          try:
              with urllib.request.urlopen(url, timeout=5) as answer:
                  return answer.read().decode()
          except urllib.error.HTTPError as error:
              raise OSError("status %d" % error.code)
          except (http.client.HTTPException, ValueError) as error:
              raise OSError(repr(error))
    `;

    it("forwards allowed requests intact", () => {
      const code = `${fetchAll}\ndef main(args): return fetch(args["url"])\n`;
      const network = [`http://127.0.0.1:${port}`];
      return trial.run(codeRun(code, { network, args: { url: `http://127.0.0.1:${port}/path?a=1` } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned", value: "from the server" });
        expect(requests).toContain(`GET 127.0.0.1:${port} /path?a=1`);
      });
    });

    it("refuses everything else, in any notation", () => {
      const { tcp, tcp6 } = trial.bait.facts;
      const allowed = `http://127.0.0.1:${port}`;
      const forbidden = `127.0.0.1:${tcp}`;
      const urls = [
        `http://${forbidden}/`,
        `https://${forbidden}/`,
        `https://127.0.0.1:${port}/`,
        `http://localhost:${tcp}/`,
        `http://localhost:${port}/`,
        `http://[::1]:${tcp6}/`,
        `http://[::ffff:127.0.0.1]:${port}/`,
        `http://[::ffff:7f00:1]:${tcp}/`,
        `http://127.0.0.2:${port}/`,
        `http://0.0.0.0:${port}/`,
        `http://127.0.0.1:${port}@${forbidden}/`,
        `http://user:127.0.0.1@${forbidden}/`,
        `http://${forbidden}#@127.0.0.1:${port}/`,
        `http://${forbidden}\\@127.0.0.1:${port}/`,
        `http://2130706433:${tcp}/`,
        `http://0x7f.1:${tcp}/`,
        `http://0177.0.0.1:${tcp}/`,
        `http://127.1:${tcp}/`,
        `http://127.0.0.1.:${tcp}/`,
        `http://①②⑦.0.0.1:${tcp}/`,
        `http://169.254.169.254/latest/meta-data/`,
        `http://metadata.google.internal/`,
        `http://example.org/`,
        `${allowed}/?to=http://${forbidden}/`,
        `${allowed}/?to=http://localhost:${tcp}/`,
        `${allowed}/?to=//${forbidden}/`,
        `${allowed}/?to=http://169.254.169.254/`,
      ];
      const attack = `${fetchAll}\ndef attack(args):\n    for url in args["urls"]:\n        attempt(url, lambda: fetch(url))\n`;
      return trial.run(codeRun(attackCode(attack), { network: [allowed], args: { urls } }), ({ end }) => {
        const { tried } = (end as unknown as { value: { tried: Record<string, string> } }).value;
        expect(Object.keys(tried)).toHaveLength(urls.length);
        expect(Object.entries(tried).filter(([, outcome]) => !outcome.startsWith("refused: "))).toEqual([]);
      });
    });

    it("refuses an allowed name that resolves to a private address", () => {
      const attack = `${fetchAll}\ndef attack(args): attempt("name", lambda: fetch(args["url"]))\n`;
      const network = [`http://localhost:${trial.bait.facts.tcp}`, "http://*.localhost"];
      const url = `http://localhost:${trial.bait.facts.tcp}/`;
      return trial.run(codeRun(attackCode(attack), { network, args: { url } }), ({ end }) =>
        expect(end).toMatchObject({
          type: "returned",
          value: { tried: { name: expect.stringMatching("^refused") as string } },
        }),
      );
    });

    it("cannot be reached by bypassing or deceiving the proxy", () => {
      const attack = python`
        import os, socket, urllib.parse

        def talk(text):
            proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
            with socket.create_connection((proxy.hostname, proxy.port), 5) as one:
                one.settimeout(0.5)
                one.sendall(text.encode("latin-1"))
                answer = b""
                try:
                    while len(answer) < 100_000:
                        part = one.recv(65536)
                        if not part:
                            break
                        answer += part
                except OSError:
                    pass
                return answer.decode("latin-1")

        def attack(args):
            allowed, forbidden = args["allowed"], args["forbidden"]
            texts = {
                "host header": f"GET http://{forbidden}/ HTTP/1.1\r\nHost: {allowed}\r\n\r\n",
                "connect": f"CONNECT {forbidden} HTTP/1.1\r\nHost: {allowed}\r\n\r\n",
                "connect for http": f"CONNECT {allowed} HTTP/1.1\r\nHost: {allowed}\r\n\r\nGET / HTTP/1.1\r\nHost: {forbidden}\r\n\r\n",
                "origin form": f"GET / HTTP/1.1\r\nHost: {forbidden}\r\n\r\n",
                "two hosts": f"GET http://{allowed}/a HTTP/1.1\r\nHost: {allowed}\r\nHost: {forbidden}\r\n\r\n",
                "pipelined": f"GET http://{allowed}/b HTTP/1.1\r\nHost: {allowed}\r\n\r\nGET http://{forbidden}/ HTTP/1.1\r\nHost: {forbidden}\r\n\r\n",
                "smuggled": f"POST http://{allowed}/c HTTP/1.1\r\nHost: {allowed}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://{forbidden}/ HTTP/1.1\r\n\r\n",
                "upgrade": f"GET http://{forbidden}/ HTTP/1.1\r\nHost: {forbidden}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
                "no request": "\x16\x03\x01\x00\xff" * 100,
                "endless header": "GET http://" + allowed + "/ HTTP/1.1\r\n" + "X: " + "x" * 200_000 + "\r\n\r\n",
            }
            answers = {name: talk(text) for name, text in texts.items()}
            def directly(address):
                host, port = address.rsplit(":", 1)
                with socket.create_connection((host, int(port)), 2) as one:
                    return one.recv(10)
            attempt("directly", lambda: directly(forbidden))
            attempt("allowed, directly", lambda: directly(allowed))
            attempt("names", lambda: socket.getaddrinfo("example.org", 80))
            return answers
      `;
      const args = { allowed: `127.0.0.1:${port}`, forbidden: `127.0.0.1:${trial.bait.facts.tcp}` };
      return trial.run(codeRun(attackCode(attack), { network: [`http://${args.allowed}`], args }), ({ end }) => {
        const { tried } = (end as unknown as { value: { tried: Record<string, string> } }).value;
        expect(Object.values(tried).filter((outcome) => !outcome.startsWith("refused: "))).toEqual([]);
        expect(requests.filter((request) => !request.includes(args.allowed))).toEqual([]);
      });
    });
  });
}
