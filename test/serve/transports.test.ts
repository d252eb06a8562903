import { type OpenTransport, describeTransports, transportScript, transportSkills } from "../transports.ts";
import { legacyCall } from "../mcp/raw-request.ts";
import { openMemoryRuns } from "../runtime/runs/memory-runs.ts";
import { type OpenHttp, openHttp, rpcCall } from "./open-http.ts";

type TransportReply = Awaited<ReturnType<OpenTransport["call"]>>;

const open = (project: string): Promise<OpenHttp> =>
  openHttp({
    skills: Object.fromEntries(Object.entries(transportSkills).map(([file, text]) => [`/skills/${file}`, text])),
    runs: openMemoryRuns(transportScript).runs,
    project,
  });

describeTransports(
  "HTTP",
  async (project) => {
    const server = await open(project);
    return {
      call: async (tool, args) => {
        const { result, error } = (await server.rpc(rpcCall(tool, args))) as { result?: unknown; error?: unknown };
        return (error === undefined ? { result } : { error }) as TransportReply;
      },
      close: async () => {
        await server.close();
      },
    };
  },
  "people",
);

describeTransports("MCP over HTTP, for remote clients", async (project) => {
  const server = await open(project);
  return {
    call: async (tool, args) => {
      const answer = await server.get("/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify(legacyCall(tool, args)),
      });
      const [, text = "{}"] = /^data: ?(.*)$/m.exec(await answer.text()) ?? [];
      const { result } = JSON.parse(text) as { result: { structuredContent: object; isError?: boolean } };
      const content = result.structuredContent;
      return (result.isError === true ? { error: content } : { result: content }) as TransportReply;
    },
    close: async () => {
      await server.close();
    },
  };
});
