import { CommanderError } from 'commander';
import { ApiError, ArgumentError, ConnectionError } from '../../../sdk/src/errors.ts';
import { OperatorError } from '../errors.ts';

/** The exit codes. They are part of the interface, like those of the API's errors. */
export const exitCodes = {
  ok: [0, 'The command succeeded.'],
  failed: [1, 'The command failed, or the server refused it.'],
  usage: [2, 'The arguments are wrong.'],
  unauthenticated: [3, 'There is no login, or the key is wrong, revoked or expired.'],
  not_found: [4, 'The thing does not exist in this account.'],
  unreachable: [5, 'The server does not answer.'],
  denied: [6, 'The key does not have the permission.'],
  busy: [7, 'The server is busy or limits requests; try again later.'],
  interrupted: [130, 'Interrupted by Ctrl-C.'],
} as const satisfies Record<string, readonly [code: number, meaning: string]>;

export type Ending = keyof typeof exitCodes;

/** A command failed. The message says what to do. */
export class CliError extends Error {
  readonly ending: Ending;
  constructor(ending: Ending, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.ending = ending;
  }
}

/** A failure as a program gets it on standard error with `--json`. */
export interface Failure {
  readonly exitCode: number;
  /** The code of the API's error, or the name of the exit code. */
  readonly code: string;
  readonly message: string;
  readonly requestId?: string;
  readonly fields?: ApiError['fields'];
}

export function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) return usageFailure(error);
  if (error instanceof CliError) return ended(error.ending, error.message);
  if (error instanceof ArgumentError) return ended('usage', error.message);
  if (error instanceof ConnectionError) return ended('unreachable', unreachable(error));
  if (error instanceof ApiError) {
    const { code, requestId, fields } = error;
    return {
      ...ended(endingOf(error.status), advised(error)),
      code,
      requestId,
      ...(fields.length > 0 && { fields }),
    };
  }
  if (error instanceof OperatorError) return ended('failed', error.message);
  if (error instanceof Error && error.name === 'AbortError') return ended('interrupted', 'Interrupted.');
  if (isSystemError(error)) return ended('failed', error.message);
  return ended('failed', error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** The library that reads the arguments ends a command by an error, also after it has printed the help. */
function usageFailure({ code, message }: CommanderError): Failure {
  if (['commander.helpDisplayed', 'commander.version'].includes(code)) return ended('ok', '');
  return ended('usage', code === 'commander.help' ? 'Name a command.' : message.replace(/^error: /, ''));
}

function ended(ending: Ending, message: string): Failure {
  return { exitCode: exitCodes[ending][0], code: ending, message };
}

function endingOf(status: number): Ending {
  switch (status) {
    case 401:
      return 'unauthenticated';
    case 403:
      return 'denied';
    case 404:
      return 'not_found';
    case 429:
    case 503:
      return 'busy';
    default:
      return 'failed';
  }
}

function advised({ code, message }: ApiError): string {
  if (code === 'unauthorized') return `${message}. Log in again with: switchboard login`;
  return code === 'session_required' ? `${message}. Name it with --session.` : message;
}

function unreachable({ message, cause }: ConnectionError): string {
  const [, url = ''] = /^\w+ (\S+?)\/api\/v1/.exec(message) ?? [];
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const reason = inner instanceof Error && 'code' in inner ? ` (${inner.code})` : '';
  return `No server answers at ${url}${reason}. Start it, or name another one with --url.`;
}

const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && 'syscall' in error;
