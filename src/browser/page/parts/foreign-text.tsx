import type { JSX } from "preact";
import { hasConfusables, toVisible } from "./visible-text.ts";

/** A text that skills or agents wrote, on one line: isolated in its direction, and nothing in it hides. */
export function ForeignText({ text, limit }: { readonly text: string; readonly limit?: number }): JSX.Element {
  return <bdi>{toVisible(text, limit)}</bdi>;
}

/** A name that skills or agents wrote, with a warning where it mixes scripts whose letters look alike. */
export function ForeignName({ name }: { readonly name: string }): JSX.Element {
  return (
    <>
      <ForeignText text={name} limit={128} />
      {hasConfusables(name) && <span class="chip warning">look-alike letters</span>}
    </>
  );
}
