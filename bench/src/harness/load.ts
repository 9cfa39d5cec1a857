import autocannon from 'autocannon';

export const CONNECTIONS = 50;

const bodies = Array.from({ length: 500 }, (_, n) =>
  JSON.stringify({ to: String(491_707_000_000 + n), message: 'Hello there' }),
);

/** Sends messages to 500 numbers for some seconds. Returns how many were answered; all of them with success. */
export async function answers(
  url: string,
  path: string,
  duration: number,
  headers: Readonly<Record<string, string>> = {},
  connections = CONNECTIONS,
) {
  const requests = bodies.map((body) => ({
    method: 'POST' as const,
    path,
    body,
    headers: { 'content-type': 'application/json', ...headers },
  }));
  const result = await autocannon({ url, connections, duration, requests });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  return result['2xx'];
}
