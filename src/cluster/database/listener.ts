import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { type Clock, withinTime } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { inBatches } from "../../base/promises.ts";
import type { ClusterChannel, Database, Queries } from "../database.ts";

interface Subscription {
  readonly channel: ClusterChannel;
  readonly onMessage: (payload: string) => void;
  readonly onConnected: () => void;
}

/** The first pause after a lost connection, and the maximum of later ones. */
const firstPauseMs = 100;
const maxPauseMs = 5_000;
/** The interval of checks. A connection that the network dropped silently is noticed after two. */
const heartbeatMs = 5_000;

/** Opens one connection for all messages with the first subscription, and again when it breaks. */
export function openListener(
  connect: () => Client,
  { log, clock, notify }: { readonly log: Log; readonly clock: Clock; readonly notify: Database["notify"] },
): {
  listen(channel: ClusterChannel, onMessage: (payload: string) => void, onConnected: () => void): () => void;
  close(): void;
} {
  const subscriptions = new Set<Subscription>();
  /** The channel of a test message: a pooler in transaction mode accepts LISTEN, and loses the messages. */
  const own: ClusterChannel = `acp_skills_to_${randomUUID().replaceAll("-", "")}`;
  let isHeard = false;
  let client: Client | undefined;
  let isConnected = false;
  let isClosed = false;
  let isReported = false;
  let pauseMs = firstPauseMs;
  let stopTimer = (): void => undefined;

  async function open(): Promise<void> {
    const opened = (client = connect());
    opened.on("error", (error) => lost(opened, error));
    opened.on("end", () => lost(opened, new Error("the connection ended")));
    opened.on("notification", ({ channel, payload = "" }) => {
      isHeard ||= channel === own;
      for (const subscription of [...subscriptions])
        if (subscription.channel === channel) subscription.onMessage(payload);
    });
    try {
      await opened.connect();
      await opened.query(`listen ${own}`);
      // The loop includes channels that are added meanwhile.
      for (const { channel } of subscriptions) await opened.query(`listen ${channel}`);
    } catch (error) {
      lost(opened, error);
      return;
    }
    if (client !== opened) return;
    if (isReported) log("info", "Messages of the cluster arrive again.");
    [isConnected, isReported, pauseMs] = [true, false, firstPauseMs];
    beat(opened);
    notify(own, "");
    for (const { onConnected } of [...subscriptions]) onConnected();
  }

  /** Detects a connection that was lost silently. */
  function beat(opened: Client): void {
    stopTimer = clock.after(heartbeatMs, () => {
      if (!isHeard)
        log(
          "warning",
          "Messages of the cluster do not arrive, so that changes are seen seconds later: is there a pooler in transaction mode? Connect to the database itself, or in session mode.",
        );
      // The warning is logged once.
      isHeard = true;
      withinTime(opened.query("select 1"), clock, heartbeatMs).then(
        (answer) => {
          if (answer === undefined) lost(opened, new Error("it does not answer"));
          else if (client === opened) beat(opened);
        },
        (error: unknown) => lost(opened, error),
      );
    });
  }

  function lost(opened: Client, error: unknown): void {
    if (client !== opened) return;
    client = undefined;
    isConnected = false;
    stopTimer();
    opened.end().catch(() => undefined);
    if (isClosed) return;
    if (!isReported)
      log(
        "warning",
        `Messages of the cluster do not arrive: ${error instanceof Error ? error.message : String(error)}`,
      );
    isReported = true;
    stopTimer = clock.after(pauseMs, () => void open());
    pauseMs = Math.min(maxPauseMs, pauseMs * 2);
  }

  return {
    listen(channel, onMessage, onConnected) {
      const subscription = { channel, onMessage, onConnected };
      subscriptions.add(subscription);
      const opened = client;
      if (opened === undefined && !isReported) void open();
      else if (opened !== undefined && isConnected)
        opened.query(`listen ${channel}`).then(
          () => subscriptions.has(subscription) && client === opened && onConnected(),
          (error: unknown) => lost(opened, error),
        );
      return () => void subscriptions.delete(subscription);
    },
    close() {
      isClosed = true;
      subscriptions.clear();
      stopTimer();
      const opened = client;
      client = undefined;
      opened?.end().catch(() => undefined);
    },
  };
}

/**
 * Sends messages in separate transactions that do not wait for the disk, because PostgreSQL commits transactions with messages one by one
 * in a whole database.
 */
export function openNotices(queries: Queries): Database["notify"] {
  const send = inBatches<readonly [channel: string, payload: string]>((given) =>
    queries.query(
      `select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
       from unnest($1::text[], $2::text[]) as given (channel, payload)`,
      [given.map(([channel]) => channel), given.map(([, payload]) => payload)],
    ),
  );
  return (channel, payload) => void send([channel, payload]).catch(() => undefined);
}
