import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import tls from 'node:tls';
import { generate } from 'selfsigned';
import { portOf } from '../../connections/listening.ts';
import type { Counters } from '../network.ts';
import type { FaultState } from './faults.ts';

/** The host of encrypted uploads and downloads, over TLS. */
export interface MediaHost {
  /** Including the port, as announced to clients. */
  readonly host: string;
  /** The certificate that clients must trust. */
  readonly ca: string;
  /** Files by path. */
  readonly files: Map<string, Buffer>;
  put(content: Buffer): string;
  close(): Promise<void>;
}

/** The token that a client must send with an upload. */
export const UPLOAD_TOKEN = 'upload-token';

export async function startMediaHost(
  files: Map<string, Buffer>,
  faults: FaultState,
  counters: Counters,
): Promise<MediaHost> {
  // A unique name, because a process that trusts two certificates with one name may use the wrong one.
  const commonName = `media ${randomBytes(8).toString('hex')}`;
  const { cert, private: key } = await generate([{ name: 'commonName', value: commonName }], {
    algorithm: 'sha256',
    keyType: 'ec',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  });
  const put = (content: Buffer) => {
    const path = `/v/${randomBytes(12).toString('hex')}`;
    files.set(path, content);
    return path;
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'https://localhost');
    if (request.method === 'POST') {
      const content = await buffer(request);
      if (faults.uploadStatus !== undefined) return void response.writeHead(faults.uploadStatus).end('{}');
      if (url.searchParams.get('auth') !== UPLOAD_TOKEN) return void response.writeHead(401).end('{}');
      counters.uploads++;
      const path = put(content);
      if (faults.losesNextUpload) files.delete(path);
      faults.losesNextUpload = false;
      response.end(JSON.stringify({ url: `https://${host}${path}`, direct_path: path }));
      return;
    }
    counters.downloads++;
    const content = files.get(url.pathname);
    const { downloadLocation: location } = faults;
    if (location !== undefined) response.writeHead(302, { location }).end();
    else if (faults.downloadStatus !== undefined) response.writeHead(faults.downloadStatus).end();
    else if (content === undefined) response.writeHead(404).end();
    else response.end(content);
  }

  const server = createServer({ cert, key }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `localhost:${portOf(server)}`;
  return {
    host,
    ca: cert,
    files,
    put,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Makes this process trust an additional certificate, for `https` and `fetch`. */
export function trust(ca: string): void {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca]);
}
