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
  host: setting('HOST', 'address', '127.0.0.1', 'Address the server listens on.', nonEmpty),
  port: setting('PORT', 'number', '8080', 'Port the server listens on; 0 takes a free one.', wholeNumber(0, 65535)),
  dataDir: setting(
    'DATA_DIR',
    'path',
    './data',
    'Where the embedded database and the secrets made on first start live.',
    path,
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    'URL',
    '',
    'postgres://… instead of the embedded SQLite in DATA_DIR; any number of nodes share it.',
    databaseUrl,
  ),
  databaseDirectUrl: setting(
    'DATABASE_DIRECT_URL',
    'URL',
    '',
    'DATABASE_URL past a transaction pooler such as PgBouncer: the connection that listens has to be direct.',
    databaseUrl,
  ),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    'number',
    '10',
    'Connections to PostgreSQL; half of them write.',
    wholeNumber(2, 1000),
  ),
  nodeUrl: setting(
    'NODE_URL',
    'URL',
    '',
    "Address under which the other nodes reach this one, without a path; HOST and PORT unless set, and the machine's name where HOST is 0.0.0.0.",
    optionalOrigin,
  ),
  nodeRole: setting(
    'NODE_ROLE',
    'all | api',
    'all',
    'Whether this node takes sessions and webhooks, or only answers requests.',
    oneOf('all', 'api'),
  ),
  leaseSeconds: setting(
    'LEASE_SECONDS',
    'seconds',
    '8',
    'How long the other nodes wait for a node that does not answer before they acquire its sessions. The same on all nodes.',
    wholeNumber(2, 60),
  ),
  publicUrl: setting('PUBLIC_URL', 'URL', '', 'Address under which callers reach the server, for links.', optionalUrl),
  jwtSecret: setting(
    'JWT_SECRET',
    'text, 32 characters or more',
    '',
    'Signs login tokens; empty makes one on first start and keeps it.',
    secret,
  ),
  encryptionKey: setting(
    'ENCRYPTION_KEY',
    'text, 32 characters or more',
    '',
    'Encrypts webhook secrets and what connectors keep in the database; empty keeps them as they are.',
    secret,
  ),
  encryptionKeyPrevious: setting(
    'ENCRYPTION_KEY_PREVIOUS',
    'text, 32 characters or more',
    '',
    'The ENCRYPTION_KEY used so far, for the one start that changes it, or without a new one takes it away.',
    secret,
  ),
  registration: setting(
    'REGISTRATION',
    'open | closed',
    'open',
    'Whether anybody may register, or nobody after the first account.',
    oneOf('open', 'closed'),
  ),
  defaultConnector: setting(
    'DEFAULT_CONNECTOR',
    'connector',
    'sandbox',
    'The network of a session that names none.',
    nonEmpty,
  ),
  sandboxShared: setting(
    'SANDBOX_SHARED',
    'on | off',
    'off',
    'Whether the sandbox sessions of all accounts reach one another, or only those of the same account.',
    onOff,
  ),
  connectors: setting(
    'CONNECTORS',
    'list of packages',
    '',
    'More networks: packages, or paths of files, that export createConnector.',
    list,
  ),
  whatsappCloudUrl: setting(
    'WHATSAPP_CLOUD_URL',
    'URL',
    'https://graph.facebook.com',
    "Where WhatsApp's Cloud API is.",
    url,
  ),
  whatsappCloudVersion: setting(
    'WHATSAPP_CLOUD_VERSION',
    'version',
    'v25.0',
    'The version of the Graph API that is spoken there.',
    graphVersion,
  ),
  metrics: setting('METRICS', 'on | off', 'on', 'Whether GET /metrics answers, for Prometheus.', onOff),
  allowedHosts: setting(
    'ALLOWED_HOSTS',
    'list of host names',
    '',
    'More names that callers use for the server, beside PUBLIC_URL, NODE_URL, HOST, IP addresses and localhost; * for any.',
    hostNames,
  ),
  queryKeyAuth: setting(
    'QUERY_KEY_AUTH',
    'on | header | off',
    'on',
    'Which deprecated credential forms are taken: X-API-Key and ?key=, only X-API-Key, or neither.',
    oneOf('on', 'header', 'off'),
  ),
  trustProxy: setting(
    'TRUST_PROXY',
    'on | off',
    'off',
    "Whether X-Forwarded-For tells the caller's address: on behind a proxy of yours, and only there.",
    onOff,
  ),
  rateLimit: setting(
    'RATE_LIMIT',
    'number',
    '6000',
    'Requests per minute and credential; 0 for no limit.',
    wholeNumber(0, 1e9),
  ),
  accountRateLimit: setting(
    'ACCOUNT_RATE_LIMIT',
    'number',
    '',
    'Requests per minute and account, with all its credentials; twice RATE_LIMIT unless set, 0 for no limit.',
    optional(wholeNumber(0, 1e9)),
  ),
  maxApiKeys: setting('MAX_API_KEYS', 'number', '100', 'API keys that an account may have.', wholeNumber(1, 1e6)),
  maxSessions: setting('MAX_SESSIONS', 'number', '1000', 'Sessions that an account may have.', wholeNumber(1, 1e6)),
  maxScheduledMessages: setting(
    'MAX_SCHEDULED_MESSAGES',
    'number',
    '10000',
    'Messages of an account that may wait to be sent later, those of bulk sends included.',
    wholeNumber(1, 1e9),
  ),
  maxWaitingCalls: setting(
    'MAX_WAITING_CALLS',
    'number',
    '100',
    'Event streams and long polls that an account may have open on one node.',
    wholeNumber(1, 1e6),
  ),
  loginRateLimit: setting(
    'LOGIN_RATE_LIMIT',
    'number',
    '10',
    'Failed logins per minute for one account, ten times that for one address, and twenty times that for all logins of one address; 0 for no limit.',
    wholeNumber(0, 1e6),
  ),
  registrationRateLimit: setting(
    'REGISTRATION_RATE_LIMIT',
    'number',
    '20',
    'Accounts that one address may register per hour; 0 for no limit.',
    wholeNumber(0, 1e6),
  ),
  webhookAllowedCidrs: setting(
    'WEBHOOK_ALLOWED_CIDRS',
    'list of CIDRs',
    '',
    'Address ranges that webhooks may point at although they are private.',
    cidrs,
  ),
  outgoingConnections: setting(
    'OUTGOING_CONNECTIONS',
    'number',
    '4096',
    'Connections that the server opens for accounts at a time, shared among them: to webhooks, and to files behind URLs. Half of the open files that the system allows at most.',
    wholeNumber(2, 65_536),
  ),
  webhookTimeoutMs: setting(
    'WEBHOOK_TIMEOUT_MS',
    'milliseconds',
    '15000',
    'Deadline of one delivery attempt, all in all.',
    wholeNumber(100, 120_000),
  ),
  webhookRetrySeconds: setting(
    'WEBHOOK_RETRY_SECONDS',
    'list of seconds',
    '5,30,120,600,1800,3600,10800,21600,43200,86400',
    'Waits between the attempts of one delivery, each with 20 % jitter.',
    retrySchedule,
  ),
  breakerOpenSeconds: setting(
    'BREAKER_OPEN_SECONDS',
    'seconds',
    '30',
    'How long a circuit breaker stays open at first; doubles up to 15 minutes.',
    wholeNumber(1, 900),
  ),
  eventRetentionDays: setting(
    'EVENT_RETENTION_DAYS',
    'days',
    '30',
    'How long delivered events and the delivery log are kept.',
    wholeNumber(1, 3650),
  ),
  heldRetentionDays: setting(
    'HELD_RETENTION_DAYS',
    'days',
    '7',
    'How long an event waits behind an open breaker before it expires.',
    wholeNumber(1, 365),
  ),
  stopDelaySeconds: setting(
    'STOP_DELAY_SECONDS',
    'seconds',
    '0',
    'How long a server that is told to stop still takes requests, while GET /ready already answers 503: as long as a proxy takes to notice.',
    wholeNumber(0, 300),
  ),
  stopTimeoutSeconds: setting(
    'STOP_TIMEOUT_SECONDS',
    'seconds',
    '25',
    'How long a stop may take after that delay. A server that cannot finish, with a database that hangs, ends all the same; what it could not store is done again by the next start or by another node.',
    wholeNumber(1, 300),
  ),
  diskReserveBytes: setting(
    'DISK_RESERVE_BYTES',
    'bytes',
    '67108864',
    'With less free space than this in DATA_DIR, GET /ready answers 503.',
    wholeNumber(0, 1e15),
  ),
  mediaMaxBytes: setting(
    'MEDIA_MAX_BYTES',
    'bytes',
    '104857600',
    'Largest file that is taken, uploaded or fetched from a URL.',
    wholeNumber(1, 5_000_000_000),
  ),
  mediaDir: setting(
    'MEDIA_DIR',
    'path',
    '',
    'Folder for files; DATA_DIR/media unless set. Several nodes need one that all of them share, or MEDIA_S3_URL.',
    optionalPath,
  ),
  mediaS3Url: setting(
    'MEDIA_S3_URL',
    'URL',
    '',
    'Keeps media in this S3-compatible store instead of DATA_DIR; MEDIA_S3_BUCKET and the keys go with it.',
    optionalUrl,
  ),
  mediaS3Bucket: setting('MEDIA_S3_BUCKET', 'text', '', 'The bucket, and after a slash a prefix, if any.', bucket),
  mediaS3Region: setting('MEDIA_S3_REGION', 'text', 'us-east-1', 'The region that requests are signed for.', nonEmpty),
  mediaS3AccessKeyId: setting('MEDIA_S3_ACCESS_KEY_ID', 'text', '', 'The access key of the S3 store.', anything),
  mediaS3SecretAccessKey: setting(
    'MEDIA_S3_SECRET_ACCESS_KEY',
    'text',
    '',
    'The secret that goes with the access key.',
    anything,
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'URL',
    '',
    'Sends traces there by OTLP over HTTP; the other OTEL_ variables of headers, sampling and names are taken too.',
    optionalUrl,
  ),
  whatsappVersion: setting(
    'WHATSAPP_VERSION',
    'three numbers, such as 2.3000.1043857760',
    '',
    "The version of WhatsApp's web client to appear as; for when WhatsApp takes the built-in one no more.",
    clientVersion,
  ),
  whatsappKeepAliveSeconds: setting(
    'WHATSAPP_KEEP_ALIVE_SECONDS',
    'number',
    '30',
    'How often WhatsApp is asked whether it is still there; silence for half as long again is an outage.',
    wholeNumber(1, 300),
  ),
  whatsappUrl: setting(
    'WHATSAPP_URL',
    'URL',
    '',
    "A WhatsApp server of one's own, ws:// or wss://, for tests: whoever answers there is believed.",
    optionalSocketUrl,
  ),
  whatsappMediaHost: setting(
    'WHATSAPP_MEDIA_HOST',
    'host, with a port if not 443',
    'mmg.whatsapp.net',
    'The one host that files of WhatsApp messages are fetched from, over https.',
    hostName,
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'level',
    'info',
    'trace, debug, info, warn, error, fatal or silent.',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
} as const;

type Table = typeof settingsTable;
export type Settings = { readonly [K in keyof Table]: Table[K] extends Setting<infer T> ? T : never };

/** All problems of the environment in one error, so that they are mended in one go. */
export class SettingsError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(
      `The settings have ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.join('\n')}`,
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
      if (settings[name] === '') problems.push(`  ${settingsTable[name].env} must be set when MEDIA_S3_URL is`);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  // Each value was made by the parser that its type is read off.
  return Object.freeze(settings) as Settings;
}

/** The folder of the files, unless an S3 store has them. */
export const contentDir = ({ mediaDir, dataDir }: Settings) => join(mediaDir ?? join(dataDir, 'media'), 'content');

/** The table as text, for `--help`. */
export function settingsHelp(): string {
  const rows = Object.values<Setting<unknown>>(settingsTable).map(
    ({ env, type, default: byDefault, doc }) =>
      `  ${env.padEnd(32)}${doc}\n  ${''.padEnd(32)}${type}${byDefault && `; default ${byDefault}`}`,
  );
  return `Settings, as environment variables:\n\n${rows.join('\n')}\n`;
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
  // The value may hold a password, so the message does not repeat it.
  if (text !== '' && !/^postgres(ql)?:\/\//.test(text))
    throw new Error('must start with postgres:// (or be empty for SQLite)');
  // Without a host a socket is meant, and the URL is still one.
  if (text !== '' && !URL.canParse(text.replace('@/', '@localhost/')))
    throw new Error('is no URL: in a password, characters such as @ : / ? # [ and % have to be percent-encoded');
  return text;
}

function secret(text: string): string {
  if (text !== '' && text.length < 32) throw new Error('must have at least 32 characters');
  return text;
}

function retrySchedule(text: string): readonly number[] {
  const seconds = list(text).map((item) => wholeNumber(1, 604_800)(item));
  if (seconds.length === 0) throw new Error('must name at least one wait');
  return seconds;
}
