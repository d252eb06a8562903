import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** The time since a moment, as long as it goes on; then how long it took. */
export function Elapsed({ since, until }: { readonly since: number; readonly until: number | undefined }): JSX.Element {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (until !== undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [until]);
  return <span class="elapsed muted">{toDuration(Math.max(0, (until ?? now) - since))}</span>;
}

/** 340 ms, 4.2 s, 1 min 12 s. */
function toDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
