import { sep } from 'node:path';
import type { Settings } from './config.ts';
import { OperatorError } from './errors.ts';

type Used = Pick<Settings, 'host' | 'port' | 'dataDir' | 'mediaDir' | 'databaseUrl' | 'databaseDirectUrl'>;

/** The members of errors of files, sockets, SQLite and PostgreSQL. */
interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly hostname?: string;
  readonly port?: number;
}

/**
 * Explains why a start failed: which setting to look at, what is wrong with it, and what to do. Never repeats a
 * password. Anything that no setting can fix is a bug, and is explained by its stack trace.
 * @param settings undefined if they could not be read
 */
export function explainStart(error: unknown, settings: Used | undefined): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const text = cause instanceof OperatorError ? cause.message : settings && explainSystem(cause, settings);
    if (text !== undefined) return text;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function explainSystem(error: SystemError, settings: Used): string | undefined {
  if (error.syscall === 'listen') return explainListen(error, settings);
  if (error.path !== undefined) return explainPath(error, error.path, settings);
  const isHost = error.hostname === settings.host && error.hostname !== URL.parse(settings.databaseUrl)?.hostname;
  if (error.syscall === 'getaddrinfo' && isHost)
    return `HOST: the host name "${settings.host}" is unknown. ${HOST_ADVICE}`;
  if (settings.databaseUrl !== '') return isElsewhere(error, settings) ? undefined : explainPostgres(error, settings);
  if (error.code === 'ERR_SQLITE_ERROR')
    return `DATA_DIR: the database in ${settings.dataDir} cannot be used: ${error.message}. Check that the user that runs the server may write to every file in this folder, or set DATA_DIR to another one.`;
  return undefined;
}

const HOST_ADVICE = 'Use 127.0.0.1 for this machine only, 0.0.0.0 for all its addresses, or one of its own addresses.';

function explainListen({ code, message, port: wanted }: SystemError, { host, port: main }: Used): string {
  const [name, port] = wanted === undefined || wanted === main ? ['PORT', main] : ['METRICS_PORT', wanted];
  switch (code) {
    case 'EADDRINUSE':
      return `${name}: another program already uses port ${port} of ${host}. Stop that program, or set ${name} to another port.`;
    case 'EACCES':
      return `${name}: the user that runs the server may not listen on port ${port}. Set ${name} to 1024 or more, or grant the permission (CAP_NET_BIND_SERVICE).`;
    case 'EADDRNOTAVAIL':
      return `HOST: ${host} is not an address of this machine. ${HOST_ADVICE}`;
    default:
      return `HOST and ${name}: cannot listen on port ${port} of ${host}: ${message}`;
  }
}

const PATH_PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'the user that runs the server has no permission for it',
  EPERM: 'the user that runs the server has no permission for it',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'it is a file and not a folder',
  ENOTDIR: 'a part of this path is a file and not a folder',
};

function explainPath({ code = '', message }: SystemError, path: string, { mediaDir, dataDir }: Used): string {
  const problem = PATH_PROBLEMS[code] ?? message;
  const [setting, folder] =
    mediaDir !== undefined && isIn(path, mediaDir) ? ['MEDIA_DIR', mediaDir] : ['DATA_DIR', dataDir];
  return isIn(path, folder)
    ? `${setting}: the server cannot write to ${path}: ${problem}. Set ${setting} to a folder that it can write to.`
    : `The server cannot use ${path}: ${problem}.`;
}

const isIn = (path: string, folder: string) => path === folder || path.startsWith(folder + sep);

/** Whether the error names a host or port, and it is not that of PostgreSQL. */
function isElsewhere({ hostname, port }: SystemError, { databaseUrl, databaseDirectUrl }: Used): boolean {
  const urls = [databaseUrl, databaseDirectUrl].filter((text) => text !== '').map((text) => URL.parse(text));
  return !urls.some(
    // A URL with a query may name the host and the port there, and one of a socket has neither.
    (url) =>
      url === null ||
      url.search !== '' ||
      ((hostname ?? url.hostname) === url.hostname && (port ?? portOf(url)) === portOf(url)),
  );
}

const portOf = (url: URL) => Number(url.port || 5432);

/** Undefined for errors that have nothing to do with the connection to PostgreSQL. */
function explainPostgres({ code = '', message }: SystemError, { databaseUrl }: Used): string | undefined {
  // Everything but the password.
  const { username, pathname } = URL.parse(databaseUrl) ?? { username: '', pathname: '' };
  const [user, database] = [username, pathname.slice(1)].map(decoded);
  const place = `PostgreSQL at ${hostOf({ databaseUrl }) || 'its socket'}`;
  const found = postgresProblems.find(({ pattern }) => pattern.test(code || message));
  if (found === undefined) return undefined;
  const fill = (text: string) => text.replace('{user}', () => user ?? '').replace('{database}', () => database ?? '');
  return `DATABASE_URL: ${place} ${fill(found.problem)}${found.repeats ? `: ${message}` : ''}. ${fill(found.advice)}`;
}

interface PostgresProblem {
  /** Matches the code, or the message of an error without one. */
  readonly pattern: RegExp;
  readonly problem: string;
  readonly advice: string;
  /** Whether the message of PostgreSQL tells more. */
  readonly repeats?: true;
}

const postgresProblems: readonly PostgresProblem[] = [
  {
    pattern: /^ECONNREFUSED$/,
    problem: 'refused the connection',
    advice: 'Check the host and the port, and that PostgreSQL is running.',
  },
  {
    pattern: /^(ENOTFOUND|EAI_\w+)$/,
    problem: 'cannot be found: the host name is unknown',
    advice: 'Check the host in the URL.',
  },
  {
    pattern: /^(28\w{3})$/,
    problem: 'rejected the login',
    repeats: true,
    advice: 'Check the user name and the password in the URL, and pg_hba.conf of PostgreSQL.',
  },
  {
    pattern: /^3D000$/,
    problem: 'has no database "{database}"',
    advice: 'Check the name at the end of the URL, or create it: createdb {database}',
  },
  {
    pattern: /^42501$/,
    problem: 'lacks a permission',
    repeats: true,
    advice: 'Make the user "{user}" the owner of the database "{database}".',
  },
  {
    pattern: /^(40P01|55P03|57014)$/,
    problem: 'broke off a statement, because other connections hold locks',
    repeats: true,
    advice: 'Wait until they are done, or end them with pg_terminate_backend(pid). Then start again.',
  },
  { pattern: /^57P03$/, problem: 'is not ready', repeats: true, advice: 'Start the server again in a moment.' },
  {
    pattern: /^53\w{3}$/,
    problem: 'lacks resources',
    repeats: true,
    advice: 'Raise max_connections of PostgreSQL, or lower DATABASE_POOL_SIZE.',
  },
  {
    pattern: /^ETIMEDOUT$|timeout/i,
    problem: 'did not answer in time',
    advice: 'Check the host and the port, and that no firewall is in between.',
  },
  {
    pattern: /SSL|^(DEPTH_ZERO_)?SELF_SIGNED|^UNABLE_TO_|^CERT_|^ERR_TLS/,
    problem: 'cannot be reached over TLS',
    repeats: true,
    advice: 'Check sslmode in the URL, and the certificate of PostgreSQL.',
  },
  {
    pattern: /^(ECONN\w+|EPIPE|E(HOST|NET)(UNREACH|DOWN)|ENETRESET|EPROTO|08\w{3}|57P\d\d)$|^Connection terminated/,
    problem: 'cannot be reached',
    repeats: true,
    advice: 'Check the host and the port, and that PostgreSQL is running.',
  },
];

/** Returns a text with an invalid code unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const hostOf = ({ databaseUrl }: Pick<Used, 'databaseUrl'>) => URL.parse(databaseUrl)?.host ?? '';
