import { createServer, request as send } from 'node:http';
import { portOf } from './listening.ts';

/**
 * A proxy on loopback that adds a credential, for tools that cannot send one. Passes all other headers unchanged.
 * @param isRefused selects requests that get a 422 in place of the server's response
 */
export async function startAuthProxy(
  target: string,
  credential: string,
  isRefused: (request: string) => boolean = () => false,
): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    if (isRefused(`${request.method} ${request.url}`)) {
      request.resume();
      response.writeHead(422, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ status: 422, code: 'not_supported', detail: 'Refused by the proxy' }));
      return;
    }
    const headers = { ...request.headers, authorization: `Bearer ${credential}` };
    const onward = send({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
