/** How long each scenario injects faults. */
export const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 60);
/** A run with the same seed selects the same faults in the same order. */
export const SEED = Number(process.env['SOAK_SEED'] ?? Date.now() % 1_000_000);

/** Numbers from 0 to 1 that depend only on the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
