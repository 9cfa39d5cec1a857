/**
 * Halving finds one device among many in two queries for each time that their number can be halved: enough for eight.
 */
const QUERIES_PER_HALVING = 16;
const MAX_QUERIES = 200;

export interface KeyQueries {
  /** Devices that the server has no keys of: each was refused alone. */
  readonly without: readonly string[];
  /** Devices that were in a refused query, and in no other one within the limit. */
  readonly unasked: readonly string[];
}

/**
 * Asks for the keys of devices, in halves of each refused query until only devices without keys are left.
 * @param signal asks no more when it is aborted
 * @throws the errors of `query` that are not refusals
 */
export async function queryInHalves(
  devices: readonly string[],
  query: (devices: readonly string[]) => Promise<unknown>,
  isRefusal: (error: unknown) => boolean,
  signal?: AbortSignal,
): Promise<KeyQueries> {
  const without: string[] = [];
  const unasked: string[] = [];
  let left = Math.min(MAX_QUERIES, QUERIES_PER_HALVING * Math.ceil(Math.log2(devices.length + 1)));
  const ask = async (part: readonly string[]): Promise<void> => {
    if (left-- <= 0 || signal?.aborted) {
      unasked.push(...part);
      return;
    }
    try {
      await query(part);
      return;
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
    if (part.length === 1) {
      without.push(...part);
      return;
    }
    const half = Math.ceil(part.length / 2);
    await ask(part.slice(0, half));
    await ask(part.slice(half));
  };
  if (devices.length > 0) await ask(devices);
  return { without, unasked };
}
