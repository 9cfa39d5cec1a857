import { createServer } from 'node:http';
import { portOf } from '../../../server/test/support/connections/listening.ts';

/** A receiver in this process that measures the time from the API's answer to the webhook of each message. */
export async function startTimedReceiver() {
  const sentAt = new Map<string, number>();
  const receivedAt = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      receivedAt.set(JSON.parse(Buffer.concat(chunks).toString()).data.messageId, performance.now());
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}/hook`,
    sent: (messageId: string) => sentAt.set(messageId, performance.now()),
    /** Waits until the webhooks of all sent messages have arrived. A webhook may arrive before the answer. */
    async p99(): Promise<number> {
      while ([...sentAt.keys()].some((id) => !receivedAt.has(id)))
        await new Promise((resolve) => setTimeout(resolve, 50));
      const took = [...sentAt].map(([id, at]) => Math.max(0.1, (receivedAt.get(id) ?? 0) - at)).sort((a, b) => a - b);
      return took[Math.floor(took.length * 0.99)] ?? 0;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
