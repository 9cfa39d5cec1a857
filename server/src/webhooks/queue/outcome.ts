import type { OutcomeClass } from '../../db/tables/webhooks.ts';
import { thrownCode, thrownError } from '../../thrown.ts';

/**
 * The outcomes of an attempt. `retry`: `schedule` follows the retry schedule, `held` keeps the delivery pending without
 * using up a step, `none` is final. `breaker`: how the circuit breaker counts it.
 */
export const outcomeClasses = {
  ok: { retry: 'none', breaker: 'success', meaning: 'answered 2xx, or confirmed the message' },
  redirect: {
    retry: 'schedule',
    breaker: 'failure',
    meaning: 'answered 3xx; redirects are not followed (see `acceptRedirects`)',
  },
  client_error: {
    retry: 'schedule',
    breaker: 'failure',
    meaning: 'answered 4xx, or refused the message or the credentials',
  },
  gone: { retry: 'held', breaker: 'opens', meaning: 'answered 410: it accepts no more deliveries' },
  throttled: { retry: 'schedule', breaker: 'none', meaning: 'answered 429: too many deliveries at once' },
  server_error: { retry: 'schedule', breaker: 'failure', meaning: 'answered 5xx, or could not store the message' },
  timeout: { retry: 'schedule', breaker: 'failure', meaning: 'did not answer or confirm within the deadline' },
  dns: {
    retry: 'schedule',
    breaker: 'failure',
    meaning: 'its host name does not resolve to an address that webhooks may reach',
  },
  connect: { retry: 'schedule', breaker: 'failure', meaning: 'refused the connection or did not accept it in time' },
  tls: { retry: 'schedule', breaker: 'failure', meaning: 'its TLS certificate is invalid or the TLS handshake failed' },
  reset: { retry: 'schedule', breaker: 'failure', meaning: 'closed the connection before it answered' },
  protocol: { retry: 'schedule', breaker: 'failure', meaning: 'did not answer in the protocol of its URL' },
  blocked_address: {
    retry: 'held',
    breaker: 'opens',
    meaning: 'its address is one that webhooks may not reach',
  },
  no_socket: {
    retry: 'schedule',
    breaker: 'none',
    meaning: 'was not contacted because this server had no free socket',
  },
  unknown_outcome: { retry: 'schedule', breaker: 'none', meaning: 'this server stopped before the answer arrived' },
} as const satisfies Record<
  OutcomeClass,
  { retry: 'none' | 'schedule' | 'held'; breaker: 'success' | 'failure' | 'opens' | 'none'; meaning: string }
>;

/** Outcome of one attempt: a value, because a misbehaving receiver is not an exception. */
export interface Outcome {
  readonly class: OutcomeClass;
  /** HTTP status, if there was an answer. */
  readonly status: number | null;
  readonly durationMs: number;
  /** A sentence for people. */
  readonly message: string;
  /** Up to 1 KiB of the response, control characters escaped. */
  readonly response: string | null;
  /** `Retry-After` of the receiver, 1 s to 1 h. */
  readonly retryAfterMs: number | null;
  /** Present if a broker refused the message for its size. */
  readonly isTooLarge?: true;
}

/** Whether the receiver refused the body for its size. */
export const isTooLarge = (outcome: Outcome): boolean => outcome.status === 413 || outcome.isTooLarge === true;

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;
export type Described = readonly [kind: OutcomeClass, status: number | null, message: string, isTooLarge?: true];

export function headerValue(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

export function describeAnswer(
  status: number,
  headers: AnswerHeaders,
  body: string,
  url: URL,
  acceptsRedirects = false,
): Described {
  const isHtml =
    (headerValue(headers, 'content-type') ?? '').includes('html') || /^\s*<(!doctype html|html)/i.test(body);
  if (status < 300) {
    const looksLikeLogin = isHtml && /password|log ?in|sign ?in/i.test(body);
    const hint = looksLikeLogin
      ? ' with an HTML page that looks like a login: a proxy in front of the receiver may be answering in its place'
      : '';
    return ['ok', status, `Answered ${status}${hint}`];
  }
  if (status < 400) return describeRedirect(status, headerValue(headers, 'location'), acceptsRedirects);
  if (status === 410) return ['gone', status, 'Answered 410 Gone: it accepts no more deliveries'];
  if (status === 429) return ['throttled', status, 'Answered 429 Too Many Requests'];
  if (status >= 500) return ['server_error', status, `Answered ${status}${isHtml ? ' with an HTML page' : ''}`];
  if (status === 404 && url.pathname.includes('/webhook-test/')) {
    return [
      'client_error',
      status,
      'Answered 404. This is an n8n test URL, which listens only while its workflow is tested; activate the workflow and set its production URL (/webhook/…)',
    ];
  }
  if (status === 401 || status === 403) {
    return [
      'client_error',
      status,
      `Answered ${status}: the receiver, or a proxy in front of it, requires a credential`,
    ];
  }
  return ['client_error', status, `Answered ${status}${isHtml ? ' with an HTML page' : ''}`];
}

/**
 * Redirects to where the result of the request is. The others (301, 307, 308) ask for the request at another URL, so
 * the receiver has not processed it (RFC 9110, 15.4).
 */
const TO_RESULT: ReadonlySet<number> = new Set([302, 303]);
/** Where Google Apps Script shows what a web app returned, after it has run. */
const SCRIPT_RESULT = /^https:\/\/script\.googleusercontent\.com\//;

function describeRedirect(status: number, location: string | undefined, isAccepted: boolean): Described {
  if (isAccepted && TO_RESULT.has(status) && location !== undefined)
    return ['ok', status, `Answered ${status}, a redirect to the result, which this webhook counts as delivered`];
  const target = location === undefined ? 'nowhere (no Location header)' : location.slice(0, 300);
  const answered = `Answered ${status}, redirecting to ${target}.`;
  if (TO_RESULT.has(status) && location !== undefined && SCRIPT_RESULT.test(location))
    return [
      'redirect',
      status,
      `${answered} Google Apps Script has run and redirects to its result, so do not set that URL: set \`acceptRedirects\` of the webhook to true`,
    ];
  const orAccept = TO_RESULT.has(status)
    ? '. If the receiver redirects after it has processed the event, set `acceptRedirects` of the webhook to true'
    : '';
  return ['redirect', status, `${answered} Redirects are not followed: set that URL instead${orAccept}`];
}

const SWITCHING_PROTOCOLS = 101;

export function describeSwitchedProtocols({ host }: URL): Described {
  const message = `${host} answered 101 Switching Protocols without being asked; check that the port belongs to the receiver`;
  return ['protocol', SWITCHING_PROTOCOLS, message];
}

/** undici's messages for an unexpected interim answer, whose code is that of a broken connection. */
export function isUnrequestedAnswer({ message }: Error): boolean {
  return message === 'bad upgrade' || message === 'bad response';
}

const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain ends in a self-signed certificate that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'it does not send its intermediate certificates, or their issuer is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'the issuer of its certificate is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of its certificate is not trusted here',
  CERT_REVOKED: 'its certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port: should the URL start with http://?',
};

export function describeError(error: Error, url: URL, timeoutMs: number): Described {
  // Happy eyeballs tries several addresses and reports all errors; the first one is shown.
  const first = error instanceof AggregateError ? thrownError(error.errors[0]) : error;
  const code = thrownCode(first);
  const { host } = url;
  if (code === 'EMFILE' || code === 'ENFILE')
    return ['no_socket', null, `This server has no free socket (${code}): ${host} was not contacted`];
  if (code === 'ERR_TARGET_REFUSED') return ['dns', null, first.message];
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return ['timeout', null, `No connection to ${host} within ${timeoutMs / 1000} s`];
  if (code === 'ECONNREFUSED') return ['connect', null, `Nothing listens on ${host}: the connection was refused`];
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN)$/.test(code)) {
    return ['connect', null, `${host} cannot be reached from here (${code})`];
  }
  if (code === 'ETIMEDOUT') return ['connect', null, `${host} did not accept the connection (${code})`];
  if (code in TLS_PROBLEMS || /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/.test(code)) {
    return ['tls', null, `No TLS connection to ${host}: ${TLS_PROBLEMS[code] ?? first.message.slice(0, 200)}`];
  }
  if (first.message === 'bad upgrade') return describeSwitchedProtocols(url);
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|ECONNABORTED)$/.test(code) && !isUnrequestedAnswer(first)) {
    return ['reset', null, `${host} closed the connection before it answered`];
  }
  // undici reports parser errors without a code, and asserts on status lines that it has not checked.
  if (first.name === 'HTTPParserError' || /^(HPE_|UND_ERR_|ERR_ASSERTION$)/.test(code))
    return ['protocol', null, `${host} did not answer in valid HTTP${code && ` (${code})`}`];
  return ['connect', null, `No answer from ${host}: ${(code || first.message).slice(0, 200)}`];
}
