import { type Socket, connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** Stands between members and a database, and can cut or slow down what passes. */
export interface CuttingProxy {
  readonly port: number;
  /** Ends all connections; new ones are refused until `mend`. */
  cut(): void;
  /** Connections stay, and nothing passes until `mend`. */
  stall(): void;
  /** Each piece takes longer by so much. */
  slow(ms: number): void;
  mend(): void;
  close(): Promise<void>;
}

export async function openCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let [isCut, isStalled, delay] = [false, false, 0];
  let waiting: (() => void)[] = [];

  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const upstream = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(from);
      let last = Promise.resolve();
      from.on("data", (bytes) => {
        last = last.then(async () => {
          if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
          if (isStalled) await new Promise<void>((resolve) => waiting.push(resolve));
          if (!to.destroyed) to.write(bytes);
        });
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      destroyAll();
    },
    stall: () => void (isStalled = true),
    slow: (ms) => void (delay = ms),
    mend() {
      [isCut, isStalled, delay] = [false, false, 0];
      for (const pass of waiting.splice(0)) pass();
      waiting = [];
    },
    async close() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
