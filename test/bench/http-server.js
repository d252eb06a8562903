// Serves what is measured, in a process of its own: `hello`, or the skills below a root. Prints its URL, and on request what it used.
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { openApp } from "../../.build/runtime/app.js";
import { defaultConfig } from "../../.build/serve/config.js";
import { serveHttp } from "../../.build/serve/serve-http.js";
import { readOptions } from "../../.build/runtime/options.js";
import { toTokenDigest } from "../../.build/wire/http.js";
import { benchToken } from "./http-load.js";

const [what = "hello", root = "", dataDirectory = ""] = process.argv.slice(2);
const { url, close } = await (what === "hello" ? serveHello() : serveSkills());
process.on("message", (asked) => {
  const { user, system } = process.cpuUsage();
  if (asked === "usage") process.send?.({ cpuMicroseconds: user + system, heapBytes: heapBytes() });
  else void close().then(() => process.exit());
});
process.send?.({ url });

/** Of what is retained, where the garbage can be collected. */
function heapBytes() {
  const { gc } = globalThis;
  for (let times = 0; times < 3; times++) gc?.();
  return process.memoryUsage().heapUsed;
}

/** The floor: the least that any server with these libraries does. */
async function serveHello() {
  const app = new Hono();
  app.get("/", (context) => context.json({ hello: "world" }));
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/`, close: () => Promise.resolve() };
}

async function serveSkills() {
  const log = (/** @type {string} */ level, /** @type {string} */ message) => {
    if (level === "error") process.stderr.write(`told while measuring: ${message}\n`);
  };
  const app = openApp(readOptions({ log, dataDirectory, directories: [root], defaultRoots: false }));
  const session = app.openSession({});
  await session.catalog.ready;
  const limits = { requestsPerMinute: 1e12, concurrentRequests: 10_000 };
  const caller = { name: "bench", tokenDigest: toTokenDigest(benchToken), skills: ["*"], tools: undefined };
  const server = await serveHttp(
    app,
    session,
    {
      ...defaultConfig,
      access: { default: "public", public: [], restricted: [], private: [] },
      callers: [{ ...caller, grants: [], secrets: [], limits }],
      anonymous: { ...defaultConfig.anonymous, limits },
      limits: { ...defaultConfig.limits, shutdownSeconds: 1 },
    },
    { host: "127.0.0.1", port: 0 },
  );
  return {
    url: server.url,
    async close() {
      await server.close();
      await app.close();
    },
  };
}
