import { isAbsolute, join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';

interface Setting<T> {
  readonly env: string;
  readonly type: string;
  readonly default: string;
  readonly doc: string;
  /** Throws an `Error` whose message completes the sentence "ENV …". */
  readonly parse: (text: string) => T;
}

const setting = <T>(
  env: string,
  type: string,
  byDefault: string,
  doc: string,
  parse: (text: string) => T,
): Setting<T> => ({
  env,
  type,
  default: byDefault,
  doc,
  parse,
});

/** Every setting of the server. `--help`, the docs and the README are printed from this table. */
export const settingsTable = {
  host: setting('HOST', 'address', '127.0.0.1', 'Address to listen on.', nonEmpty),
  port: setting('PORT', 'number', '8080', 'Port to listen on; 0 chooses a free one.', wholeNumber(0, 65535)),
  dataDir: setting(
    'DATA_DIR',
    'path',
    './data',
    'Folder for the embedded database, files and generated secrets. Only one process can use it at a time.',
    path,
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    'URL',
    '',
    'PostgreSQL, as postgres://…, shared by any number of nodes. Empty uses SQLite in DATA_DIR.',
    databaseUrl,
  ),
  databaseDirectUrl: setting(
    'DATABASE_DIRECT_URL',
    'URL',
    '',
    'PostgreSQL without the transaction pooler (such as PgBouncer) of DATABASE_URL, for the connection that listens.',
    databaseUrl,
  ),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    'number',
    '10',
    'Connections to PostgreSQL per node; half of them are for writes.',
    wholeNumber(2, 1000),
  ),
  nodeUrl: setting(
    'NODE_URL',
    'URL',
    '',
    "Address at which other nodes reach this one, without a path. Defaults to HOST and PORT, with the machine's name if HOST is 0.0.0.0.",
    optionalOrigin,
  ),
  nodeRole: setting(
    'NODE_ROLE',
    'all | api',
    'all',
    'Whether this node runs sessions and webhooks (all), or only answers requests (api).',
    oneOf('all', 'api'),
  ),
  leaseSeconds: setting(
    'LEASE_SECONDS',
    'seconds',
    '8',
    'How long the other nodes wait for a node that does not answer before they acquire its sessions and webhooks. Use the same value on all nodes.',
    wholeNumber(2, 60),
  ),
  publicUrl: setting(
    'PUBLIC_URL',
    'URL',
    '',
    'Address at which callers reach the server; used in links and callback URLs.',
    optionalUrl,
  ),
  jwtSecret: setting(
    'JWT_SECRET',
    'text, 32 characters or more',
    '',
    'Signs login tokens. Empty generates one on the first start and stores it.',
    secret,
  ),
  encryptionKey: setting(
    'ENCRYPTION_KEY',
    'text, 32 characters or more',
    '',
    'Encrypts secrets in the database: those of webhooks and of connectors. Empty stores them unencrypted.',
    secret,
  ),
  encryptionKeyPrevious: setting(
    'ENCRYPTION_KEY_PREVIOUS',
    'text, 32 characters or more',
    '',
    'The previous ENCRYPTION_KEY, for the one start that changes or removes it.',
    secret,
  ),
  registration: setting(
    'REGISTRATION',
    'open | closed',
    'open',
    'open: anyone can register. closed: nobody can after the first account.',
    oneOf('open', 'closed'),
  ),
  defaultConnector: setting(
    'DEFAULT_CONNECTOR',
    'connector',
    'sandbox',
    'Network of a session that does not name one.',
    nonEmpty,
  ),
  sandboxShared: setting(
    'SANDBOX_SHARED',
    'on | off',
    'off',
    'on: sandbox sessions of all accounts can message one another. off: only those of the same account.',
    onOff,
  ),
  connectors: setting(
    'CONNECTORS',
    'list of packages',
    '',
    'Additional networks: package names or file paths that export createConnector.',
    list,
  ),
  whatsappCloudUrl: setting(
    'WHATSAPP_CLOUD_URL',
    'URL',
    'https://graph.facebook.com',
    'Address of the Graph API that whatsapp-cloud uses.',
    url,
  ),
  whatsappCloudVersion: setting(
    'WHATSAPP_CLOUD_VERSION',
    'version',
    'v25.0',
    'Version of the Graph API that whatsapp-cloud uses.',
    graphVersion,
  ),
  metrics: setting('METRICS', 'on | off', 'on', 'Whether GET /metrics serves metrics for Prometheus.', onOff),
  allowedHosts: setting(
    'ALLOWED_HOSTS',
    'list of host names',
    '',
    'Additional host names that callers use; * allows any. IP addresses, localhost, HOST and the hosts of PUBLIC_URL and NODE_URL always work.',
    hostNames,
  ),
  queryKeyAuth: setting(
    'QUERY_KEY_AUTH',
    'on | header | off',
    'on',
    'Deprecated ways to send a key: on accepts X-API-Key and ?key=, header only X-API-Key, off neither.',
    oneOf('on', 'header', 'off'),
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    'on | off',
    'off',
    "on: take the caller's address from X-Forwarded-For. Use it only behind your own proxy.",
    onOff,
  ),
  rateLimit: setting(
    'RATE_LIMIT',
    'number',
    '6000',
    'Requests per minute for each credential; 0 means no limit.',
    wholeNumber(0, 1e9),
  ),
  accountRateLimit: setting(
    'ACCOUNT_RATE_LIMIT',
    'number',
    '',
    'Requests per minute for each account, across all its credentials; 0 means no limit. Defaults to twice RATE_LIMIT.',
    optional(wholeNumber(0, 1e9)),
  ),
  maxApiKeys: setting('MAX_API_KEYS', 'number', '100', 'API keys per account.', wholeNumber(1, 1e6)),
  maxSessions: setting('MAX_SESSIONS', 'number', '1000', 'Sessions per account.', wholeNumber(1, 1e6)),
  maxScheduledMessages: setting(
    'MAX_SCHEDULED_MESSAGES',
    'number',
    '10000',
    'Scheduled messages per account, including those of bulk sends.',
    wholeNumber(1, 1e9),
  ),
  maxWaitingCalls: setting(
    'MAX_WAITING_CALLS',
    'number',
    '100',
    'Open event streams and long polls per account on each node.',
    wholeNumber(1, 1e6),
  ),
  loginRateLimit: setting(
    'LOGIN_RATE_LIMIT',
    'number',
    '10',
    'Failed logins per minute for one account from one address; 0 means no limit. The limit is ten times as high for one address across all accounts, and twenty times for all its logins.',
    wholeNumber(0, 1e6),
  ),
  registrationRateLimit: setting(
    'REGISTRATION_RATE_LIMIT',
    'number',
    '20',
    'Accounts that one address may register per hour; 0 means no limit.',
    wholeNumber(0, 1e6),
  ),
  webhookAllowedCidrs: setting(
    'WEBHOOK_ALLOWED_CIDRS',
    'list of CIDRs',
    '',
    'Private address ranges that webhooks may point at.',
    cidrs,
  ),
  outgoingConnections: setting(
    'OUTGOING_CONNECTIONS',
    'number',
    '4096',
    'Open connections to webhooks and to files behind URLs, shared fairly among accounts. Never more than half of the limit of open files.',
    wholeNumber(2, 65_536),
  ),
  webhookTimeoutMs: setting(
    'WEBHOOK_TIMEOUT_MS',
    'milliseconds',
    '15000',
    'Deadline of one delivery attempt.',
    wholeNumber(100, 120_000),
  ),
  webhookRetrySeconds: setting(
    'WEBHOOK_RETRY_SECONDS',
    'list of seconds',
    '5,30,120,600,1800,3600,10800,21600,43200,86400',
    'Waits between the attempts of a delivery, each varied by up to 20 %.',
    retrySchedule,
  ),
  breakerOpenSeconds: setting(
    'BREAKER_OPEN_SECONDS',
    'seconds',
    '30',
    'How long a circuit breaker first stays open. Each failed probe doubles it, up to 15 minutes.',
    wholeNumber(1, 900),
  ),
  eventRetentionDays: setting(
    'EVENT_RETENTION_DAYS',
    'days',
    '30',
    'How long events and the delivery log are kept.',
    wholeNumber(1, 3650),
  ),
  heldRetentionDays: setting(
    'HELD_RETENTION_DAYS',
    'days',
    '7',
    'How long an event waits behind an open circuit breaker before it expires.',
    wholeNumber(1, 365),
  ),
  stopDelaySeconds: setting(
    'STOP_DELAY_SECONDS',
    'seconds',
    '0',
    'How long a stopping server keeps accepting requests while GET /ready answers 503, so that a proxy can notice.',
    wholeNumber(0, 300),
  ),
  stopTimeoutSeconds: setting(
    'STOP_TIMEOUT_SECONDS',
    'seconds',
    '25',
    'How long a stop may take after that delay. Then the process exits with code 1; no acknowledged data is lost.',
    wholeNumber(1, 300),
  ),
  diskReserveBytes: setting(
    'DISK_RESERVE_BYTES',
    'bytes',
    '67108864',
    'GET /ready answers 503 if DATA_DIR has less free space than this.',
    wholeNumber(0, 1e15),
  ),
  mediaMaxBytes: setting(
    'MEDIA_MAX_BYTES',
    'bytes',
    '104857600',
    'Largest file that can be uploaded or fetched from a URL.',
    wholeNumber(1, 5_000_000_000),
  ),
  mediaDir: setting(
    'MEDIA_DIR',
    'path',
    '',
    'Folder for files; defaults to DATA_DIR/media. Several nodes need one that they all share, or MEDIA_S3_URL.',
    optionalPath,
  ),
  mediaS3Url: setting(
    'MEDIA_S3_URL',
    'URL',
    '',
    'S3-compatible store for files, instead of MEDIA_DIR. Also set MEDIA_S3_BUCKET and the keys.',
    optionalUrl,
  ),
  mediaS3Bucket: setting('MEDIA_S3_BUCKET', 'text', '', 'Bucket for files, or bucket/prefix.', bucket),
  mediaS3Region: setting('MEDIA_S3_REGION', 'text', 'us-east-1', 'Region for which S3 requests are signed.', nonEmpty),
  mediaS3AccessKeyId: setting('MEDIA_S3_ACCESS_KEY_ID', 'text', '', 'Access key id of the S3 store.', anything),
  mediaS3SecretAccessKey: setting(
    'MEDIA_S3_SECRET_ACCESS_KEY',
    'text',
    '',
    'Secret access key of the S3 store.',
    anything,
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'URL',
    '',
    'Where traces are sent, by OTLP over HTTP. The other OTEL_ variables for headers, sampling and names apply, too.',
    optionalUrl,
  ),
  whatsappVersion: setting(
    'WHATSAPP_VERSION',
    'three numbers, such as 2.3000.1043857760',
    '',
    'Version of WhatsApp Web that the whatsapp connector reports; set it if WhatsApp no longer accepts the built-in one.',
    clientVersion,
  ),
  whatsappKeepAliveSeconds: setting(
    'WHATSAPP_KEEP_ALIVE_SECONDS',
    'number',
    '30',
    'How often the connection to WhatsApp is checked. Silence for 1.5 times as long counts as an outage.',
    wholeNumber(1, 300),
  ),
  whatsappUrl: setting(
    'WHATSAPP_URL',
    'URL',
    '',
    'WhatsApp server to use instead of the real one, as ws:// or wss://, for tests. Every answer of it is trusted.',
    optionalSocketUrl,
  ),
  whatsappMediaHost: setting(
    'WHATSAPP_MEDIA_HOST',
    'host, with a port if not 443',
    'mmg.whatsapp.net',
    'Only host from which files of WhatsApp messages are fetched, over https.',
    hostName,
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'level',
    'info',
    'Lowest level that is logged: trace, debug, info, warn, error, fatal or silent.',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
} as const;

type Table = typeof settingsTable;
export type Settings = { readonly [K in keyof Table]: Table[K] extends Setting<infer T> ? T : never };

/** Reports all problems of the environment at once. */
export class SettingsError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(
      `${problems.length === 1 ? 'A setting is' : `${problems.length} settings are`} invalid:\n${problems.join('\n')}`,
    );
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

/**
 * Reads the settings from an environment. A variable that is set but empty counts as not set.
 * @throws {SettingsError} naming every bad variable
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = [];
  const settings: Record<string, unknown> = {};
  for (const [name, { env: variable, default: byDefault, parse }] of Object.entries<Setting<unknown>>(settingsTable)) {
    try {
      settings[name] = parse(env[variable]?.trim() || byDefault);
    } catch (error) {
      problems.push(`  ${variable} ${(error as Error).message}`);
    }
  }
  if (settings['mediaS3Url'] !== undefined) {
    for (const name of ['mediaS3Bucket', 'mediaS3AccessKeyId', 'mediaS3SecretAccessKey'] as const) {
      if (settings[name] === '') problems.push(`  ${settingsTable[name].env} must be set if MEDIA_S3_URL is set`);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  // Each value was made by the parser that determines its type.
  return Object.freeze(settings) as Settings;
}

/** The folder of the files, unless they are in an S3 store. */
export const contentDir = ({ mediaDir, dataDir }: Settings) => join(mediaDir ?? join(dataDir, 'media'), 'content');

/** The table as text, for `--help`. */
export function settingsHelp(): string {
  const rows = Object.values<Setting<unknown>>(settingsTable).map(
    ({ env, type, default: byDefault, doc }) =>
      `  ${env.padEnd(32)}${doc}\n  ${''.padEnd(32)}${type}${byDefault && `; default ${byDefault}`}`,
  );
  return `Settings are environment variables:\n\n${rows.join('\n')}\n`;
}

function nonEmpty(text: string): string {
  if (text === '') throw new Error('must not be empty');
  return text;
}

function anything(text: string): string {
  return text;
}

function bucket(text: string): string {
  if (!/^[\w.-]*(\/[\w.-]+)*$/.test(text)) throw new Error(`must be a bucket, or bucket/prefix, not "${text}"`);
  return text;
}

function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new Error(`must be a whole number from ${least} to ${most}, not "${text}"`);
    }
    return value;
  };
}

function optional<T>(parse: (text: string) => T) {
  return (text: string): T | undefined => (text === '' ? undefined : parse(text));
}

function oneOf<const T extends string>(...words: T[]) {
  return (text: string): T => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}, not "${text}"`);
    return word;
  };
}

function onOff(text: string): boolean {
  return oneOf('on', 'off')(text) === 'on';
}

function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function cidrs(text: string): readonly string[] {
  const wrong = list(text).filter((item) => !ipaddr.isValidCIDR(item));
  if (wrong.length > 0) throw new Error(`must list ranges such as 10.0.0.0/8, not "${wrong.join('", "')}"`);
  return list(text);
}

function hostNames(text: string): readonly string[] {
  const wrong = list(text).filter((item) => item !== '*' && !/^[a-z0-9_.-]+$/i.test(item));
  if (wrong.length > 0)
    throw new Error(`must list host names such as chat.example.com, without a port, not "${wrong.join('", "')}"`);
  return list(text);
}

function path(text: string): string {
  return isAbsolute(text) ? text : resolve(text);
}

function optionalPath(text: string): string | undefined {
  return text === '' ? undefined : path(text);
}

function optionalOrigin(text: string): URL | undefined {
  const url = optionalUrl(text);
  if (url !== undefined && (url.pathname !== '/' || url.search !== ''))
    throw new Error(`must be an address without a path, such as ${url.origin}`);
  return url;
}

function optionalUrl(text: string): URL | undefined {
  if (text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error(`must be an http or https URL, not "${text}"`);
  return url;
}

function url(text: string): URL {
  const parsed = optionalUrl(text);
  if (parsed === undefined) throw new Error('must not be empty');
  return parsed;
}

function graphVersion(text: string): string {
  if (!/^v\d{1,3}\.\d{1,2}$/.test(text)) throw new Error(`must be a version such as v25.0, not "${text}"`);
  return text;
}

function optionalSocketUrl(text: string): string | undefined {
  if (text === '') return undefined;
  if (!/^wss?:\/\//.test(text) || !URL.canParse(text)) throw new Error(`must be a ws or wss URL, not "${text}"`);
  return text;
}

function hostName(text: string): string {
  if (!URL.canParse(`https://${text}`) || new URL(`https://${text}`).host !== text)
    throw new Error(`must be a host such as mmg.whatsapp.net, not "${text}"`);
  return text;
}

function clientVersion(text: string): readonly [number, number, number] | undefined {
  if (text === '') return undefined;
  const [, first, second, third] = /^(\d+)\.(\d+)\.(\d+)$/.exec(text) ?? [];
  if (third === undefined) throw new Error(`must be three numbers such as 2.3000.1043857760, not "${text}"`);
  return [Number(first), Number(second), Number(third)];
}

function databaseUrl(text: string): string {
  // The value may contain a password, so the message does not repeat it.
  if (text !== '' && !/^postgres(ql)?:\/\//.test(text))
    throw new Error('must start with postgres://, or be empty for SQLite');
  // A URL without a host means a Unix socket, which `canParse` rejects.
  if (text !== '' && !URL.canParse(text.replace('@/', '@localhost/')))
    throw new Error('is not a valid URL; percent-encode characters such as @ : / ? # [ and % in the password');
  return text;
}

function secret(text: string): string {
  if (text !== '' && text.length < 32) throw new Error('must have at least 32 characters');
  return text;
}

function retrySchedule(text: string): readonly number[] {
  const seconds = list(text).map((item) => wholeNumber(1, 604_800)(item));
  if (seconds.length === 0) throw new Error('must contain at least one wait, such as 5,30,120');
  return seconds;
}
