// Preloaded into a process and its threads (NODE_OPTIONS): says on request which compiled files ran since the last request.
//
// A file ran when one of its functions was called; that it was loaded is not enough. A request is a line on the socket
// WALKS_SOCKET; its response is a line of JSON, { [file]: [functions] }, for all threads of the process. With WALKS_AT_EXIT the same
// is written to descriptor 3 at the end, for the first thread.
import { writeSync } from "node:fs";
import { Session } from "node:inspector";
import { createServer } from "node:net";
import { BroadcastChannel, isMainThread } from "node:worker_threads";

/** @typedef {Record<string, string[]>} Ran */

const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const dist = new URL("../../.build/", import.meta.url).href;

/** @returns {Ran} */
function take() {
  /** @type {Ran} */
  const ran = {};
  session.post("Profiler.takePreciseCoverage", (error, taken) => {
    if (error) throw error;
    for (const { url, functions } of taken.result) {
      if (!url.startsWith(dist)) continue;
      // The top level of a script begins where the script does.
      const called = functions.filter(
        ({ ranges: [range] }) => range !== undefined && range.startOffset > 0 && range.count > 0,
      );
      if (called.length > 0) ran[url.slice(dist.length)] = called.map(({ functionName }) => functionName);
    }
  });
  return ran;
}

const requests = new BroadcastChannel("walks-requests");
const responses = new BroadcastChannel("walks-responses");
requests.unref();
responses.unref();
if (!isMainThread) {
  requests.onmessage = () => {
    responses.postMessage(take());
  };
  responses.postMessage("started");
} else {
  let threads = 0;
  /** @type {((ran: Ran) => void) | undefined} */
  let receive;
  responses.onmessage = (event) => {
    /** @type {unknown} */
    const data = event.data;
    if (data === "started") threads++;
    else receive?.(/** @type {Ran} */ (data));
  };
  const { WALKS_SOCKET: socket, WALKS_AT_EXIT: atExit } = process.env;
  // Only the process that is measured says what ran, not those that it starts.
  delete process.env["WALKS_SOCKET"];
  delete process.env["WALKS_AT_EXIT"];
  if (atExit !== undefined) process.on("exit", () => void writeSync(3, JSON.stringify(take())));
  if (socket !== undefined) {
    const server = createServer((connection) => {
      connection.unref();
      connection.on("data", () => {
        const all = [take()];
        const finish = () => {
          /** @type {Ran} */
          const ran = {};
          for (const one of all)
            for (const [file, called] of Object.entries(one)) ran[file] = [...(ran[file] ?? []), ...called];
          connection.write(`${JSON.stringify(ran)}\n`);
        };
        receive = (one) => {
          all.push(one);
          if (all.length > threads) finish();
        };
        if (threads === 0) finish();
        else requests.postMessage("take");
      });
    });
    server.listen(socket);
    server.unref();
  }
}
