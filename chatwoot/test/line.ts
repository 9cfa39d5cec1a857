import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Passes requests on to a server, and can break the connection after the server has answered: the caller never learns
 * that its request took effect.
 */
export async function startLine(to: () => string, passes: (method: string, path: string) => Promise<boolean>) {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = '', url = '' } = request;
      const headers = new Headers();
      for (const name of ['authorization', 'content-type', 'idempotency-key', 'user-agent'] as const) {
        const value = request.headers[name];
        if (typeof value === 'string') headers.set(name, value);
      }
      const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
      const answer = await fetch(to() + url, { method, headers, ...body });
      const content = Buffer.from(await answer.arrayBuffer());
      if (!(await passes(method, url))) return response.destroy();
      const type = answer.headers.get('content-type') ?? 'application/octet-stream';
      return response.writeHead(answer.status, { 'content-type': type }).end(content);
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
