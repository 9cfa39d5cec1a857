import { AppError } from '../../../errors.ts';
import { thrownMessage } from '../../../thrown.ts';

/** Errors of Baileys are those of @hapi/boom: `data` is the server's code as a number, or an object with details. */
export function boomOf(error: unknown): { statusCode: number | undefined; data: Readonly<Record<string, unknown>> } {
  if (typeof error !== 'object' || error === null) return { statusCode: undefined, data: {} };
  const { output, data } = error as { output?: { statusCode?: number }; data?: unknown };
  return {
    statusCode: typeof data === 'number' ? data : output?.statusCode,
    data: typeof data === 'object' && data !== null ? { ...data } : {},
  };
}

/** The waits before a query is repeated that the server refused, for example with `rate-overlimit`. */
export const QUERY_RETRIES_MS = [30_000, 2 * 60_000, 10 * 60_000] as const;

export function rateLimited(message: string, waitMs: number, cause?: unknown): AppError {
  return new AppError('rate_limited', message, { cause, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

/** Error messages that replace the general ones. */
export interface ErrorMessages {
  /** The subject of the request does not exist. */
  readonly missing?: string;
  /** The session lacks the permission. */
  readonly forbidden?: string;
}

/** Runs a request and translates an error of the server into one that the caller of the API can act on. */
export async function translateErrors<T>(
  request: () => Promise<T>,
  { missing, forbidden = 'Only an admin of the group can do this' }: ErrorMessages = {},
): Promise<T> {
  try {
    return await request();
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    switch (boomOf(cause).statusCode) {
      case 401:
      case 403:
        throw new AppError('network_denied', forbidden, { cause });
      case 404:
      case 410:
        throw new AppError('not_found', missing ?? 'The group does not exist on WhatsApp', { cause });
      case 406:
        // In response to a change, 406 means that the change is impossible; to a lookup, that nothing was found.
        if (missing !== undefined) throw new AppError('not_found', missing, { cause });
        throw new AppError('send_failed', 'WhatsApp did not accept the request', { cause });
      case 428:
        throw new AppError('session_not_connected', undefined, { cause });
      case 429:
        throw rateLimited('WhatsApp limits the requests of this session; wait before the next one', 60_000, cause);
      default: {
        const message = thrownMessage(cause);
        throw new AppError('send_failed', `WhatsApp did not accept the request: ${message}`, { cause });
      }
    }
  }
}
