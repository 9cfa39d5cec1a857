import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * The process log: JSON lines on standard output. Secrets never reach it: credentials are redacted here, by the name of
 * their field and by their form, and message bodies and webhook secrets are not logged in the first place.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          'authorization',
          'password',
          'secret',
          'token',
          'key',
          'headers.authorization',
          'headers["x-api-key"]',
          'headers.cookie',
          'req.headers.authorization',
          'req.headers["x-api-key"]',
        ],
        censor: '[redacted]',
      },
    },
    masked(destination ?? byTurn(pino.destination({ fd: 1, sync: true }))),
  );
}

/** The forms of credentials: API keys (their id stays), login tokens, and webhook secrets. */
const API_KEY = /\bsb_([0-9A-HJKMNP-TV-Z]{26})_[0-9A-Za-z]+/g;
const LOGIN_TOKEN = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g;
const WEBHOOK_SECRET = /\bwhsec_[\w+/=-]{16,}/g;

/** Returns a text without credentials, wherever they occur. */
export function maskCredentials(text: string): string {
  let masked = text;
  if (masked.includes('sb_')) masked = masked.replace(API_KEY, `sb_$1_${REDACTED}`);
  if (masked.includes('eyJ')) masked = masked.replace(LOGIN_TOKEN, REDACTED);
  if (masked.includes('whsec_')) masked = masked.replace(WEBHOOK_SECRET, `whsec_${REDACTED}`);
  return masked;
}

/** Masks credentials in every line, so that a field with any name, or an error's text, reveals none. */
function masked(destination: DestinationStream & { flushSync?(): void }): DestinationStream & { flushSync(): void } {
  return {
    flushSync: () => destination.flushSync?.(), // `fatal` calls it
    write: (line) => destination.write(maskCredentials(line)),
  };
}

/**
 * Writes the lines of one turn of the event loop together, because each write is a system call. A process that is
 * killed loses those of its last turn; one that crashes does not.
 */
function byTurn(destination: DestinationStream): DestinationStream & { flushSync(): void } {
  let lines = '';
  let isFirst = true;
  const flush = () => {
    const text = lines;
    lines = '';
    if (text !== '') destination.write(text);
  };
  return {
    flushSync: flush, // `fatal` calls it
    write(line) {
      if (isFirst) process.on('exit', flush); // also after an uncaught exception
      isFirst = false;
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}

/**
 * Matches the query parameters with secrets: `key`, the `answer` of a person to an app, and the tokens of networks. It
 * knows every spelling that the router decodes to these names: `%6bey` is `key`.
 */
const SECRET_IN_QUERY = new RegExp(
  `([?&#;](?:${spelled('key')}|${spelled('answer')}|[\\w.%-]*${spelled('token')})=)[^&]*`,
  'gi',
);

function spelled(word: string): string {
  return [...word]
    .map((letter) => {
      const codes = [letter, letter.toUpperCase()].map((one) => `%${one.charCodeAt(0).toString(16)}`);
      return `(?:${[letter, ...codes].join('|')})`;
    })
    .join('');
}

/** Returns a path and query for the log, without its secrets. */
export function redactUrl(url: string): string {
  return url.replace(SECRET_IN_QUERY, '$1[redacted]');
}

const REDACTED = '[redacted]';
/** Shorter secrets would match ordinary words. */
const MIN_SECRET_LENGTH = 6;
/** Limit of logged text that a third party wrote. */
const MAX_TEXT_LENGTH = 1000;

/**
 * Makes a text of a network, such as its error message, safe to store, show and log: at most 1,000 characters, without
 * the given secrets and anything that looks like a credential.
 */
export function redactSecrets(text: string, secrets: readonly string[] = []): string {
  const known = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
  return maskCredentials(known.slice(0, MAX_TEXT_LENGTH))
    .replace(/\b(bearer|oauth|basic)(\s+|%20)[\w.~+/=|%-]{16,}/gi, `$1$2${REDACTED}`)
    .replace(
      /\b([\w-]{0,40}(?:token|secret|password|proof|key)["']?\s{0,3}(?:=|:\s{0,3}(?=["']))\s{0,3}["']?)(?!\[redacted\])[^\s"'&,;)}\]]+/gi,
      `$1${REDACTED}`,
    )
    .replace(/\bEAA[A-Za-z0-9]{12,}/g, REDACTED) // the prefix of Meta's access tokens
    .slice(0, MAX_TEXT_LENGTH);
}
