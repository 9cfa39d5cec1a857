import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { portOf } from './listening.ts';

export interface FileServer {
  /** Such as `https://127.0.0.1:34567`. This process trusts its certificate. */
  readonly url: string;
  /** In PEM, for other processes that are to trust it. */
  readonly certificate: string;
  /** The requested paths. */
  readonly visits: string[];
  close(): Promise<void>;
}

/** A local https server for files that are fetched by URL. */
export async function startFileServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<FileServer> {
  // A unique name, because a process that trusts two certificates with one name may use the wrong one.
  const commonName = `files ${randomBytes(8).toString('hex')}`;
  const { private: key, cert } = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'files.example.com' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  setDefaultCACertificates([...getCACertificates('default'), cert]);
  const visits: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    visits.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  return {
    url: `https://127.0.0.1:${port}`,
    certificate: cert,
    visits,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
