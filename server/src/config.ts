import { join } from 'node:path';
import { isLoopback } from './egress/target.ts';
import { OperatorError } from './errors.ts';
import {
  bucket,
  cidrs,
  clientVersion,
  databaseUrl,
  graphVersion,
  hostName,
  hostNames,
  httpUrl,
  type Kind,
  number,
  oneOf,
  onOff,
  optional,
  origin,
  packages,
  path,
  retrySchedule,
  secret,
  socketUrl,
  text,
  trustedProxies,
  webOrigins,
} from './settingKinds.ts';
import { thrownMessage } from './thrown.ts';
import { startCommand } from './version.ts';

interface Setting<T> extends Kind<T> {
  readonly doc: string;
  /** As text; empty if there is none. */
  readonly default: string;
}

const setting = <T>(kind: Kind<T>, doc: string, byDefault = ''): Setting<T> => ({ ...kind, doc, default: byDefault });

/** Every setting of the server; `dataDir` is read from `DATA_DIR`. `--help` is printed from this table. */
export const settingsTable = {
  host: setting(text, 'Address to listen on.', '127.0.0.1'),
  port: setting(number(0, 65535), 'Port to listen on; 0 chooses a free one.', '8080'),
  dataDir: setting(path, 'Folder for the embedded database, files and secrets, of one process only.', './data'),
  databaseUrl: setting(databaseUrl, 'PostgreSQL, as postgres://…, shared by any number of nodes. Empty uses SQLite.'),
  databaseDirectUrl: setting(
    databaseUrl,
    'PostgreSQL without the transaction pooler (such as PgBouncer) of DATABASE_URL, for the connection that listens.',
  ),
  databasePoolSize: setting(number(2, 1000), 'Connections to PostgreSQL per node; half of them are for writes.', '10'),
  nodeUrl: setting(
    optional(origin),
    "Address at which other nodes reach this one. Defaults to HOST and PORT, with the machine's name if HOST is 0.0.0.0.",
  ),
  nodeRole: setting(oneOf('all', 'api'), 'all: runs sessions and webhooks. api: only answers requests.', 'all'),
  leaseSeconds: setting(
    number(2, 60),
    'How long the other nodes wait for a node that does not answer before they acquire its sessions and webhooks. Use the same value on all nodes.',
    '8',
  ),
  publicUrl: setting(optional(httpUrl), 'Address at which callers reach the server; used in links and callback URLs.'),
  jwtSecret: setting(secret, 'Signs login tokens. Empty generates one on the first start and stores it.'),
  encryptionKey: setting(secret, 'Encrypts secrets of webhooks and connectors. Empty stores them unencrypted.'),
  encryptionKeyPrevious: setting(secret, 'The previous ENCRYPTION_KEY, for the one start that changes or removes it.'),
  registration: setting(oneOf('open', 'closed'), 'closed: nobody can register after the first account.', 'open'),
  defaultConnector: setting(text, 'Network of a session that does not name one.', 'sandbox'),
  sandboxShared: setting(onOff, 'Whether sandbox sessions of different accounts can message one another.', 'off'),
  connectors: setting(packages, 'Additional networks: modules that export createConnector.'),
  whatsappCloudUrl: setting(httpUrl, 'Address of the Graph API for whatsapp-cloud.', 'https://graph.facebook.com'),
  whatsappCloudVersion: setting(graphVersion, 'Version of the Graph API for whatsapp-cloud.', 'v26.0'),
  mcpOauth: setting(
    onOff,
    'Whether apps can connect to the MCP endpoint by OAuth, with the consent of a person in the dashboard. Needs PUBLIC_URL with https, or with localhost.',
    'off',
  ),
  metrics: setting(
    onOff,
    'Whether GET /metrics serves metrics for Prometheus. If other machines can reach the server, set METRICS_PORT or METRICS_TOKEN too.',
    'on',
  ),
  metricsPort: setting(
    optional(number(0, 65535)),
    'Separate port for GET /metrics, on HOST, which the main port then does not serve. Keep it away from strangers.',
  ),
  metricsToken: setting(secret, 'Bearer token that GET /metrics requires. Empty requires none.'),
  allowedHosts: setting(
    hostNames,
    'Additional host names that callers use; * allows any. IP addresses, localhost, HOST and the hosts of PUBLIC_URL and NODE_URL always work.',
  ),
  corsOrigins: setting(
    webOrigins,
    'Origins of web pages that may call the REST API from a browser, with an API key or a login token. Empty allows none. MCP, OAuth and the login cookie are excluded.',
  ),
  queryKeyAuth: setting(
    oneOf('on', 'header', 'off'),
    'Deprecated ways to send a key: on accepts X-API-Key and ?key=, header only X-API-Key, off neither.',
    'on',
  ),
  trustProxy: setting(
    trustedProxies,
    "Takes the caller's address from X-Forwarded-For if the request comes from one of these addresses, or from any (on).",
    'off',
  ),
  rateLimit: setting(number(0, 1e9), 'Requests per minute for each credential; 0 means no limit.', '6000'),
  accountRateLimit: setting(
    optional(number(0, 1e9)),
    'Requests per minute for each account, across all its credentials; 0 means no limit. Defaults to twice RATE_LIMIT.',
  ),
  maxApiKeys: setting(number(1, 1e6), 'API keys per account.', '100'),
  maxSessions: setting(number(1, 1e6), 'Sessions per account.', '1000'),
  maxScheduledMessages: setting(number(1, 1e9), 'Scheduled messages per account, bulk sends included.', '10000'),
  maxMediaBytes: setting(
    number(0, 1e15),
    'Bytes of stored files per account, above which uploads are refused; received files are stored anyway. 0 means no limit.',
    '0',
  ),
  maxPendingApprovals: setting(number(1, 1e6), 'Messages per account that may wait for approval.', '1000'),
  maxWaitingCalls: setting(
    number(1, 1e6),
    'Open event streams, sockets and long polls per account on each node.',
    '100',
  ),
  loginRateLimit: setting(
    number(0, 1e6),
    'Failed logins per minute for one account from one address; 0 means no limit. The limit is ten times as high for one address across all accounts, and twenty times for all its logins.',
    '10',
  ),
  registrationRateLimit: setting(
    number(0, 1e6),
    'Registrations of accounts, and of apps that connect by OAuth, per hour from one address; 0 means no limit.',
    '20',
  ),
  webhookAllowedCidrs: setting(cidrs, 'Private address ranges that webhooks may point at.'),
  outgoingConnections: setting(
    number(2, 65_536),
    'Open connections to webhooks and to files behind URLs, shared fairly among accounts. Never more than half of the limit of open files.',
    '4096',
  ),
  webhookTimeoutMs: setting(number(100, 120_000), 'Deadline of one delivery attempt.', '15000'),
  webhookRetrySeconds: setting(
    retrySchedule,
    'Waits between the attempts of a delivery, each varied by up to 20 %.',
    '5,30,120,600,1800,3600,10800,21600,43200,86400',
  ),
  breakerOpenSeconds: setting(
    number(1, 900),
    'Pause between the probes of an open breaker; doubles after 5 minutes.',
    '5',
  ),
  eventRetentionDays: setting(
    number(1, 3650),
    'How long events, the delivery log and the tool calls of API keys are kept.',
    '30',
  ),
  heldRetentionDays: setting(number(1, 365), 'How long an event waits behind an open breaker before it expires.', '7'),
  stopDelaySeconds: setting(number(0, 300), 'How long GET /ready answers 503 before a stop refuses requests.', '0'),
  stopTimeoutSeconds: setting(
    number(1, 300),
    'How long a stop may take after that delay. Then the process exits with code 1; no acknowledged data is lost.',
    '25',
  ),
  diskReserveBytes: setting(number(0, 1e15), 'GET /ready answers 503 if DATA_DIR has less free space.', '67108864'),
  mediaMaxBytes: setting(number(1, 5_000_000_000), 'Largest file to upload or to fetch from a URL.', '104857600'),
  mediaRetentionDays: setting(
    number(0, 36_500),
    'How long a file is kept after it was last uploaded, received or sent; 0 keeps files until they are deleted.',
    '0',
  ),
  mediaConversionSeconds: setting(
    number(0, 1e6),
    'Time in which each node converts files of an account, per ten minutes; 0 means no limit.',
    '300',
  ),
  mediaDir: setting(optional(path), 'Folder for files, shared by all nodes; defaults to DATA_DIR/media.'),
  mediaS3Url: setting(optional(httpUrl), 'S3-compatible store for files. Also set MEDIA_S3_BUCKET and the keys.'),
  mediaS3Bucket: setting(bucket, 'Bucket for files, or bucket/prefix.'),
  mediaS3Region: setting(text, 'Region for which S3 requests are signed.', 'us-east-1'),
  mediaS3AccessKeyId: setting(text, 'Access key id of the S3 store.'),
  mediaS3SecretAccessKey: setting(text, 'Secret access key of the S3 store.'),
  otelExporterOtlpEndpoint: setting(
    optional(httpUrl),
    'Where traces are sent, by OTLP over HTTP. The other OTEL_ variables for headers, sampling and names apply, too.',
  ),
  whatsappVersion: setting(
    clientVersion,
    'Version of WhatsApp Web that the whatsapp connector reports. auto: the built-in one, and the one that web.whatsapp.com states once WhatsApp refuses it. off: always the built-in one.',
    'auto',
  ),
  whatsappKeepAliveSeconds: setting(
    number(1, 300),
    'How often the connection to WhatsApp is checked. Silence for 1.5 times as long counts as an outage.',
    '30',
  ),
  whatsappUrl: setting(
    optional(socketUrl),
    'WhatsApp server to use instead of the real one, as ws:// or wss://, for tests. Every answer of it is trusted.',
  ),
  whatsappMediaHost: setting(hostName, 'Only host of files in WhatsApp messages, over https.', 'mmg.whatsapp.net'),
  logLevel: setting(
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'Lowest level that is logged.',
    'info',
  ),
} as const;

type Table = typeof settingsTable;
export type Settings = { readonly [K in keyof Table]: Table[K] extends Setting<infer T> ? T : never };

/** Reports all problems of the environment at once. */
export class SettingsError extends OperatorError {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(
      `${problems.length === 1 ? 'A setting is' : `${problems.length} settings are`} invalid:\n${problems.join('\n')}\n${startCommand} --help explains every setting.`,
    );
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
  for (const [name, { default: byDefault, parse }] of Object.entries<Setting<unknown>>(settingsTable)) {
    const variable = variableOf(name);
    try {
      settings[name] = parse(env[variable]?.trim() || byDefault);
    } catch (error) {
      problems.push(`  ${variable} ${thrownMessage(error)}`);
    }
  }
  if (settings['mediaS3Url'] !== undefined) {
    for (const name of ['mediaS3Bucket', 'mediaS3AccessKeyId', 'mediaS3SecretAccessKey'])
      if (settings[name] === '') problems.push(`  ${variableOf(name)} must be set if MEDIA_S3_URL is set`);
  }
  if (settings['nodeUrl'] !== undefined && settings['databaseUrl'] === '')
    problems.push('  NODE_URL needs DATABASE_URL, because nodes without it share nothing');
  if (
    settings['metricsPort'] !== undefined &&
    settings['metricsPort'] !== 0 &&
    settings['metricsPort'] === settings['port']
  )
    problems.push('  METRICS_PORT must differ from PORT');
  const wrongUrl =
    settings['mcpOauth'] === true ? findWrongIssuer(settings['publicUrl'] as URL | undefined) : undefined;
  if (wrongUrl !== undefined) problems.push(`  PUBLIC_URL ${wrongUrl} if MCP_OAUTH is on`);
  if (problems.length > 0) throw new SettingsError(problems);
  // Each value was made by the parser that determines its type.
  return Object.freeze(settings) as Settings;
}

/** Tokens must not cross a network in plain text. Without a network, on this machine, http is as safe. */
function findWrongIssuer(url: URL | undefined): string | undefined {
  if (url === undefined) return 'must be set';
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) return 'must use https, except for localhost,';
  if (url.pathname !== '/' || url.search !== '') return 'must have no path';
  return undefined;
}

export const variableOf = (name: string) => name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();

/** The folder of the files, unless they are in an S3 store. */
export const contentDir = ({ mediaDir, dataDir }: Settings) => join(mediaDir ?? join(dataDir, 'media'), 'content');

/** The settings by subject, as `--help` and docs/settings.md list them. */
export const settingSections = {
  'Address and data': ['host', 'port', 'dataDir', 'publicUrl', 'logLevel'],
  'PostgreSQL and several nodes': [
    'databaseUrl',
    'databaseDirectUrl',
    'databasePoolSize',
    'nodeUrl',
    'nodeRole',
    'leaseSeconds',
  ],
  'Secrets and access': [
    'jwtSecret',
    'encryptionKey',
    'encryptionKeyPrevious',
    'registration',
    'queryKeyAuth',
    'mcpOauth',
    'allowedHosts',
    'corsOrigins',
    'trustProxy',
  ],
  Limits: [
    'rateLimit',
    'accountRateLimit',
    'loginRateLimit',
    'registrationRateLimit',
    'maxApiKeys',
    'maxSessions',
    'maxScheduledMessages',
    'maxMediaBytes',
    'maxPendingApprovals',
    'maxWaitingCalls',
  ],
  Networks: [
    'defaultConnector',
    'connectors',
    'sandboxShared',
    'whatsappVersion',
    'whatsappKeepAliveSeconds',
    'whatsappUrl',
    'whatsappMediaHost',
    'whatsappCloudUrl',
    'whatsappCloudVersion',
  ],
  Webhooks: [
    'webhookAllowedCidrs',
    'outgoingConnections',
    'webhookTimeoutMs',
    'webhookRetrySeconds',
    'breakerOpenSeconds',
    'eventRetentionDays',
    'heldRetentionDays',
  ],
  Files: [
    'mediaMaxBytes',
    'mediaRetentionDays',
    'mediaConversionSeconds',
    'mediaDir',
    'mediaS3Url',
    'mediaS3Bucket',
    'mediaS3Region',
    'mediaS3AccessKeyId',
    'mediaS3SecretAccessKey',
  ],
  'Stopping and monitoring': [
    'stopDelaySeconds',
    'stopTimeoutSeconds',
    'diskReserveBytes',
    'metrics',
    'metricsPort',
    'metricsToken',
    'otelExporterOtlpEndpoint',
  ],
} as const satisfies Record<string, readonly (keyof Settings)[]>;

/** Explains all settings by subject, or those that a command uses. */
export function settingsHelp(names?: readonly (keyof Settings)[]): string {
  const listed = names
    ? explained(names)
    : Object.entries(settingSections)
        .map(([title, members]) => `${title}\n${explained(members)}`)
        .join('\n\n');
  return `Settings are environment variables. An empty one counts as not set.\n\n${listed}\n`;
}

function explained(names: readonly (keyof Settings)[]): string {
  const rows = names.map((name) => {
    const { type, default: byDefault, doc }: Setting<unknown> = settingsTable[name];
    return `  ${variableOf(name).padEnd(32)}${doc}\n  ${''.padEnd(32)}${type}; ${byDefault ? `default ${byDefault}` : 'not set by default'}`;
  });
  return rows.join('\n');
}
