import assert from 'node:assert/strict';

/**
 * Polls until the value is as expected, for changes that are stored with a delay. Waits a tenth of the time that has
 * passed between two polls, so that many of them do not slow down what they wait for.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  isMet: (answer: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const startedAt = Date.now();
  for (;;) {
    const answer = await ask();
    if (isMet(answer)) return answer;
    const elapsedMs = Date.now() - startedAt;
    if (elapsedMs > timeoutMs) assert.fail(`never came: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(20 + elapsedMs / 10, 250)));
  }
}
