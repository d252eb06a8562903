/** Calls back for each line that is entered at the terminal. Nothing is read where stdin is no terminal. Returns a function that ends this. */
export function onEnter(listener: () => void, stdin: NodeJS.ReadStream = process.stdin): () => void {
  if (!stdin.isTTY) return () => undefined;
  stdin.on("data", listener).on("error", () => undefined);
  return () => {
    stdin.off("data", listener);
    stdin.pause();
  };
}
