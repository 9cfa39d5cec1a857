import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { checkUrl, createLookup, type Lookup, type TargetPolicy, TargetRefused } from '../egress/target.ts';
import { AppError, invalidField } from '../errors.ts';
import { version } from '../version.ts';
import { type Content, dispositionName, tooLarge } from './content.ts';

/** Fetches a URL and passes its content to `use`; closes everything once that has settled. */
export type UseFetched = <T>(url: string, use: (content: Content) => Promise<T>) => Promise<T>;

const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

interface FetchOptions {
  readonly policy: TargetPolicy;
  readonly maxBytes: number;
  /** For the whole fetch, including redirects and content. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly lookup?: Lookup;
  /** The field of the input that has the URL, for errors. */
  readonly field?: string;
}

/**
 * Fetches files for accounts. The account chooses the URL, so the URL and each redirect are vetted like a webhook's
 * (see `egress/target.ts`). They must also use https.
 */
export function createUseFetched(options: FetchOptions): UseFetched {
  const { policy, maxBytes, timeoutMs, clock, lookup, field = 'url' } = options;
  return async (first, use) => {
    const { Agent, request } = await import('undici');
    const agent = new Agent({ connect: { lookup: createLookup(policy, lookup), timeout: timeoutMs } });
    const deadline = new AbortController();
    const cancel = clock.after(timeoutMs, () => deadline.abort());
    const failed = (cause: unknown) => explain(cause, deadline.signal.aborted ? timeoutMs : undefined);
    try {
      let url = requireFetchable(first, policy, field);
      for (let redirects = 0; ; redirects++) {
        const response = await request(url, {
          headers: { 'user-agent': `Switchboard/${version}`, 'accept-encoding': 'identity' },
          dispatcher: agent,
          signal: deadline.signal,
        }).catch((cause: unknown) => {
          throw failed(cause);
        });
        const location = response.headers['location'];
        if (!REDIRECTS.includes(response.statusCode) || typeof location !== 'string') {
          return await use(contentOf(url, response, maxBytes, failed));
        }
        if (redirects === MAX_REDIRECTS)
          throw new AppError('fetch_failed', `The URL redirects more than ${MAX_REDIRECTS} times`);
        await response.body.dump().catch(() => {}); // the body of a redirect is irrelevant
        if (!URL.canParse(location, url)) throw new AppError('fetch_failed', 'The URL redirects to an invalid URL');
        url = requireFetchable(new URL(location, url).href, policy, field);
      }
    } finally {
      cancel();
      await agent.destroy();
    }
  };
}

/**
 * Returns the URL if it may be fetched.
 * @throws {AppError} `validation_failed`
 */
export function requireFetchable(text: string, policy: TargetPolicy, field: string): URL {
  const verdict = checkUrl(text, policy);
  if (!verdict.ok) throw invalidField(field, verdict.message, verdict.rule);
  if (verdict.url.protocol !== 'https:') throw invalidField(field, 'The URL must use https', 'scheme');
  return verdict.url;
}

function contentOf(
  url: URL,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  failed: (cause: unknown) => AppError,
): Content {
  if (statusCode !== 200)
    throw new AppError('fetch_failed', `The URL answered with status ${statusCode} instead of 200`);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new AppError('fetch_failed', `The URL answered with Content-Encoding ${encoding}, which is not supported`);
  if (Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  const type = headers['content-type'];
  return {
    stream: Readable.from(chunksOf(body, failed), { objectMode: false }),
    fileName: fileNameOf(headers['content-disposition'], url),
    mimeType: typeof type === 'string' ? type : null,
  };
}

async function* chunksOf(body: Readable, failed: (cause: unknown) => AppError): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (cause) {
    throw failed(cause);
  }
}

function fileNameOf(disposition: string | string[] | undefined, { pathname }: URL): string | null {
  const named = typeof disposition === 'string' ? dispositionName(disposition) : null;
  if (named !== null) return named;
  const last = pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || null;
  } catch {
    return last;
  }
}

function explain(cause: unknown, timeoutMs: number | undefined): AppError {
  if (timeoutMs !== undefined)
    return new AppError('fetch_failed', `The file was not fetched within ${timeoutMs / 1000} s`, { cause });
  if (cause instanceof TargetRefused) return new AppError('fetch_failed', cause.message, { cause });
  const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
  return new AppError('fetch_failed', `The file could not be fetched${code}`, { cause });
}
