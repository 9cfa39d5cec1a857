import assert from 'node:assert/strict';

/** Polls until the value is as expected, for changes that are stored with a delay. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isMet: (answer: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isMet(answer)) return answer;
    if (Date.now() > deadline) assert.fail(`never came: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
