import type { HttpRefusal } from "../../wire/http/refusal.ts";
import type { HttpCaller, HttpDoor } from "../http-door.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import { networkOf } from "../../base/network/address.ts";

/** Who reads a stream. */
interface Reader {
  readonly caller: Pick<HttpCaller, "name" | "isAnonymous">;
  readonly address: string | undefined;
}

/** The open streams, kept alive, and ended when the server stops. */
export interface OpenStreams {
  /** Why a reader gets no further stream. */
  readonly refusalOf: (reader: Reader) => HttpRefusal | undefined;
  readonly open: (
    reader: Reader,
    given: Pick<Parameters<typeof openEventStream>[0], "first" | "listen">,
  ) => ReadableStream<Uint8Array>;
}

const beatEveryMs = 15_000;

export function createEventStreams({
  app: { clock },
  config,
  draining,
  metrics,
}: Pick<HttpDoor, "draining"> & {
  readonly app: Pick<HttpDoor["app"], "clock">;
  readonly config: { readonly limits: Pick<HttpDoor["config"]["limits"], "eventStreams"> };
  readonly metrics: Pick<HttpDoor["metrics"], "streamOpened" | "streamClosed">;
}): OpenStreams {
  const open = new Map<EventStream, { readonly name: string; readonly network: string | undefined }>();
  const most = config.limits.eventStreams;
  /** One caller, or all that are anonymous together, cannot take every stream; nor one address all of those. */
  const mostOfOne = Math.max(1, Math.floor(most / 4));
  const mostOfAddress = Math.max(1, Math.floor(mostOfOne / 16));
  let stopBeating: (() => void) | undefined;

  function beatAgain(): void {
    stopBeating = clock.after(beatEveryMs, () => {
      for (const stream of open.keys()) stream.beat();
      beatAgain();
    });
  }

  draining.addEventListener("abort", () => {
    for (const stream of [...open.keys()]) stream.end();
  });

  return {
    refusalOf(reader) {
      if (draining.aborted) return unavailable("The server is stopping.");
      if (open.size >= most) return unavailable(`The limit of ${most} event streams is reached.`);
      const { name, network } = toHolder(reader);
      const others = [...open.values()];
      if (network !== undefined && others.filter((other) => other.network === network).length >= mostOfAddress)
        return tooMany(mostOfAddress, "one address without token");
      if (others.filter((other) => other.name === name).length >= mostOfOne) return tooMany(mostOfOne, "one caller");
      return undefined;
    },
    open(reader, given) {
      metrics.streamOpened();
      if (open.size === 0) beatAgain();
      const stream = openEventStream({
        ...given,
        ended() {
          open.delete(stream);
          metrics.streamClosed();
          if (open.size === 0) stopBeating?.();
        },
      });
      open.set(stream, toHolder(reader));
      return stream.body;
    },
  };
}

/** Whose limits a stream counts for: only callers without a token are told apart by address. */
function toHolder({ caller: { name, isAnonymous }, address = "" }: Reader): {
  readonly name: string;
  readonly network: string | undefined;
} {
  return { name, network: isAnonymous ? networkOf(address) : undefined };
}

const retryLater = { "retry-after": "5" };

function unavailable(message: string): HttpRefusal {
  return { status: 503, code: "RATE_LIMITED", message, headers: retryLater };
}

function tooMany(limit: number, of: string): HttpRefusal {
  const message = `The limit of ${limit} event streams of ${of} is reached; close one.`;
  return { status: 429, code: "RATE_LIMITED", message, headers: retryLater };
}
