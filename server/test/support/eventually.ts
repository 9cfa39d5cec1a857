import assert from 'node:assert/strict';

/** Asks again until the answer is as wanted: for what is stored shortly after somebody has seen it. */
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
