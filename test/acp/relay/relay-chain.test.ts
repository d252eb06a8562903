import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { relayChain } from "../../../src/acp/relay/relay-chain.ts";
import { Routing } from "../../../src/acp/relay/relay-chain/routing.ts";
import { silentLog } from "../../../src/base/log.ts";

/** One message of a side; `hops` is how many turns of the event loop its interceptor thinks about it. */
interface Sent {
  readonly from: "editor" | "agent";
  readonly kind: "request" | "notification" | "response" | "spaced";
  readonly hops: number;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  from: fc.constantFrom("editor", "agent"),
  kind: fc.constantFrom("request", "notification", "response", "spaced"),
  hops: fc.nat(3),
});

/** A line of the conductor. Ids of the agent's requests are even, so that those of the editor are others. */
function lineOf({ from, kind, hops }: Sent, index: number): string {
  const params = `{"n":${index},"hops":${hops}}`;
  const message = `"method":"x/${from}","params":${params}`;
  if (kind === "response") return `{"jsonrpc":"2.0","id":"unasked-${index}","result":${params}}`;
  const id = kind === "request" ? `"id":${index},` : "";
  if (kind === "spaced") return ` { "method" : "x/${from}" , "params" : ${params} } `;
  return from === "editor"
    ? `{"jsonrpc":"2.0",${id}${message}}`
    : `{"jsonrpc":"2.0",${id}"method":"proxy/successor","params":{${message}}}`;
}

/** Holds a block back for as many turns as its messages say. */
async function hold(block: Buffer): Promise<Buffer[]> {
  const hops = block.toString().match(/"hops":\d/g) ?? [];
  for (const hop of hops) for (let left = Number(hop.at(-1)); left > 0; left--) await new Promise(setImmediate);
  return [block];
}

/** The numbers of the messages of each direction, in the order in which they left. */
function numbersIn(output: string): Record<"toAgent" | "toEditor", number[]> {
  const numbers = { toAgent: [] as number[], toEditor: [] as number[] };
  for (const line of output.trimEnd().split("\n")) {
    const n = Number(/"n":(\d+)/.exec(line)?.[1]);
    const isFromEditor = line.includes('"proxy/successor"');
    numbers[isFromEditor ? "toAgent" : "toEditor"].push(n);
  }
  return numbers;
}

test("keeps the order of each direction, loses nothing and doubles nothing, whatever waits for how long", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { minLength: 1, maxLength: 30 }),
      fc.infiniteStream(fc.nat(300)),
      async (all, sizes) => {
        const [input, output] = [new PassThrough(), new PassThrough()];
        const routing = new Routing(silentLog);
        routing.readBlock(Buffer.from('{"jsonrpc":"2.0","id":"i","method":"proxy/initialize","params":{}}\n'));
        const relay = relayChain(input, output, routing, {
          passFromEditor: (block) => hold(block),
          passFromAgent: (block) => (block.includes('"hops":0') ? [block] : hold(block)),
          editorLeft: () => undefined,
          close: () => undefined,
        });
        const written = text(output);
        const bytes = Buffer.from(all.map((one, index) => `${lineOf(one, index)}\n`).join(""));
        for (let at = 0; at < bytes.length;) {
          const size = 1 + (sizes.next().value as number);
          input.write(bytes.subarray(at, at + size));
          at += size;
        }
        input.end();
        await relay.ended;
        output.end();
        const numbered = all.map((one, n) => ({ ...one, n }));
        const isToAgent = ({ from, kind }: Sent): boolean =>
          kind === "spaced" || (from === "editor" && kind !== "response");
        expect(numbersIn(await written)).toEqual({
          toAgent: numbered.filter(isToAgent).map(({ n }) => n),
          toEditor: numbered.filter((one) => !isToAgent(one)).map(({ n }) => n),
        });
      },
    ),
    { numRuns: 60 },
  );
});

test("writes what one chunk completes at once, also where its first line began before", async () => {
  const written: string[] = [];
  const output = new Writable({
    writev(chunks, done) {
      written.push(chunks.map(({ chunk }) => String(chunk)).join(""));
      done();
    },
  });
  const input = new PassThrough();
  const relay = relayChain(input, output, new Routing(silentLog), {
    passFromEditor: (block) => [block],
    passFromAgent: (block) => [block],
    editorLeft: () => undefined,
    close: () => undefined,
  });
  const line = (n: number): string =>
    `{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"m","params":{"n":${n}}}}\n`;
  input.write(line(1).slice(0, 20));
  await new Promise(setImmediate);
  input.end(line(1).slice(20) + line(2));
  await relay.ended;
  expect(written).toEqual([[1, 2].map((n) => `{"jsonrpc":"2.0","method":"m","params":{"n":${n}}}\n`).join("")]);
});
