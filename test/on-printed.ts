import type { RunListener } from "../src/wire/run-event.ts";

/** A listener for what code prints. */
export function onPrinted(listener: (text: string) => void): RunListener {
  return (event) => {
    if (event.type === "printed") listener(event.text);
  };
}
