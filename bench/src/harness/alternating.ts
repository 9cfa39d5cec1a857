/**
 * Measures two sides one after the other, and the other way round in every second call, because
 * the second one may find a warmer or a busier machine.
 */
export function alternating<A, B>(first: () => Promise<A>, second: () => Promise<B>): () => Promise<readonly [A, B]> {
  let isReversed = true;
  return async () => {
    isReversed = !isReversed;
    if (!isReversed) return [await first(), await second()];
    const late = await second();
    return [await first(), late];
  };
}
