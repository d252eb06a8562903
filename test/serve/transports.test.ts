import { type OpenDoor, describeDoors, doorScript, doorSkills } from "../transports.ts";
import { legacyCall } from "../mcp/raw-request.ts";
import { openMemoryRuns } from "../runtime/runs/memory-runs.ts";
import { type OpenHttp, openHttp, rpcCall } from "./open-http.ts";

type DoorReply = Awaited<ReturnType<OpenDoor["call"]>>;

const open = (project: string): Promise<OpenHttp> =>
  openHttp({
    skills: Object.fromEntries(Object.entries(doorSkills).map(([file, text]) => [`/skills/${file}`, text])),
    runs: openMemoryRuns(doorScript).runs,
    project,
  });

describeDoors(
  "HTTP",
  async (project) => {
    const server = await open(project);
    return {
      call: async (tool, args) => {
        const { result, error } = (await server.rpc(rpcCall(tool, args))) as { result?: unknown; error?: unknown };
        return (error === undefined ? { result } : { error }) as DoorReply;
      },
      close: async () => {
        await server.close();
      },
    };
  },
  "people",
);

describeDoors("MCP over HTTP, for remote clients", async (project) => {
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
      return (result.isError === true ? { error: content } : { result: content }) as DoorReply;
    },
    close: async () => {
      await server.close();
    },
  };
});
