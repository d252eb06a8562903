/** The results in the order of the items, with at most `most` at work at a time. After the first failure no further one is started. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  most: number,
  act: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  const entries = items.entries();
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (hasFailed) return;
      try {
        results[index] = await act(item, index);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  return results;
}
