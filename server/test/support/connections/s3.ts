import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { SignatureV4 } from '@smithy/signature-v4';
import { portOf } from './listening.ts';
import { Sha256 } from './sha256.ts';

export interface S3Server {
  readonly env: Readonly<Record<string, string>>;
  /** Objects by path, `/bucket/key`. */
  readonly objects: Map<string, Buffer>;
  /** The S3 codes of rejected requests. */
  readonly refused: string[];
  /** Answers the next requests with 503, as S3 does when it is busy. */
  failNext(requests: number): void;
  close(): Promise<void>;
}

const REGION = 'eu-central-1';
const ACCESS_KEY_ID = 'test-access-key';
const SECRET_ACCESS_KEY = 'test-secret-key';

/**
 * A small S3-compatible server: PUT, GET with a range, DELETE of objects in memory. It accepts only requests with a
 * valid AWS signature, and only bodies that match the signed hash.
 */
export async function startS3(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const refused: string[] = [];
  let failures = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const path = request.url ?? '';
    const refuse = (status: number, code: string) => {
      refused.push(code);
      response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
    };
    if (failures > 0) {
      failures--;
      return refuse(503, 'SlowDown');
    }
    if (request.headers.authorization !== (await rightSignature(request))) return refuse(403, 'SignatureDoesNotMatch');
    const signedHash = request.headers['x-amz-content-sha256'];
    if (signedHash !== 'UNSIGNED-PAYLOAD' && signedHash !== createHash('sha256').update(body).digest('hex'))
      return refuse(400, 'XAmzContentSHA256Mismatch');

    if (request.method === 'PUT') {
      if (request.headers['content-length'] === undefined) return refuse(411, 'MissingContentLength');
      objects.set(path, body);
      response.writeHead(200).end();
    } else if (request.method === 'DELETE') {
      objects.delete(path);
      response.writeHead(204).end();
    } else {
      const object = objects.get(path);
      if (object === undefined) return refuse(404, 'NoSuchKey');
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      if (first === undefined) response.writeHead(200).end(object);
      else response.writeHead(206).end(object.subarray(Number(first), Number(last) + 1));
    }
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  return {
    env: {
      MEDIA_S3_URL: `http://127.0.0.1:${port}`,
      MEDIA_S3_BUCKET: 'files/switchboard',
      MEDIA_S3_REGION: REGION,
      MEDIA_S3_ACCESS_KEY_ID: ACCESS_KEY_ID,
      MEDIA_S3_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
    },
    objects,
    refused,
    failNext(requests) {
      failures = requests;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The expected `Authorization` header of the request, from AWS's own signer. */
async function rightSignature({ method = '', url = '', headers }: IncomingMessage): Promise<string | undefined> {
  const signedNames = /SignedHeaders=([\w;-]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'])) ?? [];
  const signer = new SignatureV4({
    credentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET_ACCESS_KEY },
    region: REGION,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const { headers: signed } = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: '127.0.0.1',
      path: url,
      headers: Object.fromEntries(signedNames.map((name) => [name, String(headers[name])])),
    },
    { signingDate: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) },
  );
  return signed['authorization'];
}
