import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request } from 'undici';
import { sleep } from '../async.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { ContentStore } from './store.ts';

export interface S3Settings {
  readonly url: URL;
  /** `bucket` or `bucket/prefix`. */
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Opens the body; called once per try. */
  readonly body?: () => Dispatcher.DispatchOptions['body'];
}

/** How long the store may send nothing. */
const SILENCE_MS = 30_000;
const WAITS_MS = [200, 1000];

/**
 * Contents as objects of an S3-compatible store, addressed as `{url}/{bucket}/{hash}`, a form that all of them support.
 * The signature of an upload covers its SHA-256, so the store refuses a corrupted transfer.
 */
export function createS3Store(settings: S3Settings, clock: Clock): ContentStore {
  const agent = new Agent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  const base = `${settings.url.href.replace(/\/$/, '')}/${settings.bucket}`;

  async function call(hash: string, { method, headers = {}, body }: Request): Promise<Dispatcher.ResponseData> {
    const { accessKeyId, secretAccessKey, region } = settings;
    const url = `${base}/${hash}`;
    for (let tries = 0; ; tries++) {
      const signed = await new AwsV4Signer({
        method,
        url,
        headers: { ...headers },
        accessKeyId,
        secretAccessKey,
        region,
        service: 's3',
      }).sign();
      const waitMs = WAITS_MS[tries];
      try {
        const response = await request(url, {
          method,
          headers: Object.fromEntries(signed.headers),
          body: body?.() ?? null,
          dispatcher: agent,
        });
        if (response.statusCode < 500 || waitMs === undefined) return response;
        await response.body.dump();
      } catch (cause) {
        if (waitMs === undefined)
          throw new AppError('storage_unavailable', 'The media store does not answer; try again', { cause });
      }
      await sleep(clock, waitMs);
    }
  }

  return {
    async put(hash, file, size) {
      const response = await call(hash, {
        method: 'PUT',
        headers: { 'x-amz-content-sha256': hash, 'content-length': String(size) },
        body: () => createReadStream(file),
      });
      if (response.statusCode !== 200) throw await refused(response);
      await response.body.dump();
      await rm(file, { force: true });
    },
    async open(hash, range) {
      const response = await call(hash, {
        method: 'GET',
        ...(range && { headers: { range: `bytes=${range.first}-${range.last}` } }),
      });
      if (response.statusCode !== (range === undefined ? 200 : 206)) throw await refused(response);
      return response.body;
    },
    async remove(hash) {
      const response = await call(hash, { method: 'DELETE' });
      if (response.statusCode !== 204 && response.statusCode !== 404) throw await refused(response);
      await response.body.dump();
    },
    // Not stored as an object, so that a node can start while the store is unavailable.
    identity: async () => `s3 ${settings.url.origin}${settings.url.pathname.replace(/\/$/, '')}/${settings.bucket}`,
    close: () => agent.close(),
  };
}

/** The store's answer becomes the cause, which only the log shows: it is for the operator, not for the caller. */
async function refused({ statusCode, body }: Dispatcher.ResponseData): Promise<AppError> {
  const text = await body.text().catch(() => '');
  return new AppError('storage_unavailable', 'The media store rejected the request; the server log has its answer', {
    cause: new Error(`S3 answered ${statusCode}: ${text.slice(0, 1000)}`),
  });
}
