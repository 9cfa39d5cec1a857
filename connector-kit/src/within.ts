/** Far longer than anything takes between a connector and a fake of its network. */
export const PATIENCE_MS = 10_000;

/** Waits for an act of the connector. If it does not happen, the error names it. */
export async function within<T>(coming: Promise<T>, expectation: string, patienceMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Expected that ${expectation}, within ${patienceMs} ms`)), patienceMs);
  });
  return Promise.race([coming, late]).finally(() => clearTimeout(timer));
}
