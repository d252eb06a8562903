import type { Readable, Writable } from "node:stream";
import type { ByteInterceptor } from "./intercept-bytes.ts";
import { createLineQueue, type Relay, relayBlocks } from "./relay-lines.ts";
import type { Routing } from "./relay-chain/routing.ts";

export { Routing } from "./relay-chain/routing.ts";

/**
 * Passes the conductor's messages back to it: those of the editor for the successor, those of the agent for the predecessor. The messages
 * of each side stay in order, and neither side waits for the other.
 */
export function relayChain(
  input: Readable,
  output: Writable,
  routing: Routing,
  { passFromEditor, passFromAgent }: ByteInterceptor,
): Relay {
  return relayBlocks(input, output, ({ write, idle }) => {
    const toSuccessor = (pieces: readonly Buffer[]): Buffer[] => pieces.flatMap((piece) => routing.toSuccessor(piece));
    const writeToSuccessor = (pieces: readonly Buffer[]): void => write(toSuccessor(pieces));
    const fromEditor = createLineQueue({ filter: { pass: passFromEditor }, write: writeToSuccessor, idle });
    const fromAgent = createLineQueue({ filter: { pass: passFromAgent }, write, idle });

    return {
      push(blocks) {
        const sorted = blocks.map((block) => routing.readBlock(block));
        write(sorted.flatMap(({ conductor }) => conductor));
        fromEditor.push(sorted.flatMap(({ editor }) => joined(editor)));
        fromAgent.push(sorted.flatMap(({ agent }) => joined(agent)));
      },
      isWaiting: () => fromEditor.isWaiting() || fromAgent.isWaiting(),
      waitingBytes: () => Math.max(fromEditor.waitingBytes(), fromAgent.waitingBytes()),
    };
  });
}

function joined(pieces: readonly Buffer[]): readonly Buffer[] {
  return pieces.length < 2 ? pieces : [Buffer.concat(pieces)];
}
