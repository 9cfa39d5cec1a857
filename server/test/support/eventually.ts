import assert from 'node:assert/strict';

/** Far longer than anything takes, even on a machine that is busy with other work. */
export const PATIENCE_MS = 120_000;

/**
 * Polls until the value is as expected, for changes that are stored with a delay. After two seconds it polls less
 * often, because many requests slow down what they wait for.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  isMet: (answer: T) => boolean,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const answer = await ask();
    if (isMet(answer)) return answer;
    const elapsedMs = Date.now() - startedAt;
    if (elapsedMs > timeoutMs) assert.fail(`never came: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, elapsedMs < 2000 ? 20 : 100));
  }
}
