import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Client } from '../../../../sdk/src/client.ts';
import { PermissionError } from '../../../../sdk/src/errors.ts';
import { thrownMessage } from '../../thrown.ts';
import { version } from '../../version.ts';
import { acceptedUrl, type Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { styled } from '../io.ts';
import { readSecretLine } from '../prompt.ts';
import { eventsOf, receiverUrl, unsentWarning } from './wahaConfig.ts';
import { WahaError } from './wahaErrors.ts';
import { createWahaListener } from './wahaServer.ts';
import { WahaSessions } from './wahaSessions.ts';
import { WahaTargets } from './wahaTargets.ts';

export interface CompatOptions {
  readonly waha?: true;
  readonly host: string;
  readonly port: number;
  readonly apiKey?: string;
  readonly forwardTo?: string;
  readonly events: readonly string[];
  readonly eventsUrl?: string;
  readonly publicUrl?: string;
  readonly connector?: string;
  readonly name: string;
}

/** A slow upload of the largest file. */
const REQUEST_TIMEOUT_MS = 300_000;
const CLOSE_MS = 5000;
const NAME = /^[\w.-]{1,50}$/;

/** Serves the API of another gateway, until Ctrl-C. */
export async function serveCompat(context: Context, options: CompatOptions): Promise<void> {
  const { io, out } = context;
  if (options.waha !== true) throw new CliError('usage', 'Pass --waha: the only API that it can serve.');
  const wanted = wantedTarget(options);
  const given = {
    eventsUrl: urlOf('--events-url', options.eventsUrl),
    publicUrl: urlOf('--public-url', options.publicUrl),
  };
  const ending = new AbortController();
  const client = await context.client({ fetch: fetchUntil(ending.signal) });
  const key = await apiKeyOf(context, options.apiKey);
  await requireNetwork(client, options.connector);
  // Until here, a signal ends the process by default.
  const signal = io.stopSignal();
  const onError = (error: unknown) => out.note(thrownMessage(error));

  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS });
  try {
    const own = await listen(server, options);
    const { eventsUrl = own, publicUrl = own } = given;
    // The same after a restart, and unknown to everyone without the key.
    const secretFor = (purpose: string) => createHmac('sha256', key.value).update(purpose).digest('base64url');
    const targets = new WahaTargets({
      client,
      eventsUrl,
      publicUrl,
      secret: secretFor('switchboard compat'),
      hmacKey: io.env['WHATSAPP_HOOK_HMAC_KEY'] || undefined,
      version,
      name: options.name,
      onError,
    });
    const warn = (text: string | undefined) => text !== undefined && out.note(text);
    const sessions = new WahaSessions(client, { commandName: options.name, secret: secretFor('switchboard sessions') });
    const parts = { client, sessions, targets, publicUrl, network: options.connector, warn };
    server.on('request', createWahaListener({ parts, apiKey: key.value, onError }));
    await targets.start(wanted, signal);
    if (wanted !== undefined) warn(unsentWarning(wanted));
    announce(context, own, key);
    if (!signal.aborted) await once(signal, 'abort');
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await close(server);
    ending.abort();
  }
}

/** Ends requests to the server that would outlast the command. */
const fetchUntil =
  (ending: AbortSignal): typeof fetch =>
  (input, init) =>
    fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, ending]) : ending });

const urlOf = (option: string, given: string | undefined) =>
  given === undefined ? undefined : acceptedUrl(given, option);

/**
 * Checks that the server has a network. Skips the check if the key cannot list networks.
 * @throws {CliError} `usage`
 */
async function requireNetwork(client: Client, network: string | undefined): Promise<void> {
  if (network === undefined) return;
  const answer = await client.connectors.list().catch((error: unknown) => {
    if (!(error instanceof PermissionError)) throw error;
  });
  if (answer === undefined || answer.data.some(({ name }) => name === network)) return;
  const names = answer.data.map(({ name }) => name).join(', ');
  throw new CliError('usage', `--network must be one of ${names}, not "${network}".`);
}

/** Failures of an address that no machine or only another machine has. */
const WRONG_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EINVAL']);

/** @throws {CliError} `usage` for an address that the machine does not have */
async function listen(server: Server, { host, port }: CompatOptions): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    if (!WRONG_HOST.has(cause.code ?? '')) throw cause;
    throw new CliError('usage', `--host must be an address of this machine, not "${host}".`, { cause });
  });
  const { port: bound } = server.address() as AddressInfo; // it listens on TCP
  return `http://${isIPv6(host) ? `[${host}]` : host}:${bound}`;
}

/** Lets requests end that have begun, for a while. */
async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  await closed;
  clearTimeout(timer);
}

function announce({ out }: Context, url: string, { value, isNew }: ApiKey): void {
  if (out.isJson) out.json({ type: 'listening', url, ...(isNew && { apiKey: value }) });
  out.note(`Serving the API of WAHA at ${url}. Ctrl-C stops.`);
  if (isNew) out.note('The key for X-Api-Key: ', styled('bold', value));
}

interface ApiKey {
  readonly value: string;
  /** Nobody else knows it yet. */
  readonly isNew: boolean;
}

async function apiKeyOf({ io }: Context, given: string | undefined): Promise<ApiKey> {
  if (given === '-') return { value: await readSecretLine(io, 'key'), isNew: false };
  if (given === '') throw new CliError('usage', 'The key is empty.');
  const value = given ?? io.env['WAHA_API_KEY'];
  return value ? { value, isNew: false } : { value: randomBytes(24).toString('base64url'), isNew: true };
}

/** @throws {CliError} `usage` */
function wantedTarget({ forwardTo, events, name }: CompatOptions) {
  if (!NAME.test(name))
    throw new CliError('usage', '--name takes up to 50 letters, digits, dots, dashes and underscores.');
  if (forwardTo === undefined) return undefined;
  try {
    return { url: receiverUrl(forwardTo), ...eventsOf(events) };
  } catch (error) {
    throw error instanceof WahaError ? new CliError('usage', `${error.message}.`) : error;
  }
}
