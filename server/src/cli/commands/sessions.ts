import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import { qrText } from '../../media/qrCode.ts';
import { type Fields, isFields } from '../../objects.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { type Part, styled } from '../io.ts';
import { readAll } from '../prompt.ts';
import { type ListOptions, showPage } from './lists.ts';

const POLL_MS = 500;

export async function listSessions(context: Context, options: ListOptions): Promise<void> {
  const page = await (await context.client()).sessions.list(options);
  showPage(context, page, {
    none: 'There are no sessions. Create one with: switchboard sessions create',
    heads: ['SESSION', 'STATUS', 'NETWORK', 'NUMBER', 'NAME'],
    row: ({ sessionId, status, connector, phoneNumber, name }) => [
      sessionId,
      statusPart(status),
      connector,
      phoneNumber,
      name,
    ],
  });
}

export interface CreateOptions {
  readonly name?: string;
  readonly connector?: string;
  readonly phoneNumber?: string;
  /** Options of the network, as JSON; `-` for standard input. */
  readonly options?: string;
}

export async function createSession(context: Context, { options, ...given }: CreateOptions): Promise<void> {
  const text = options === '-' ? await readAll(context.io.stdin) : options;
  const parsed = text === undefined ? undefined : parseOptions(text);
  const session = await (await context.client()).sessions.create({ ...given, ...(parsed && { options: parsed }) });
  showSession(context, session);
  context.out.note(`Connect it with: switchboard sessions connect ${session.sessionId}`);
}

export async function getSession(context: Context, sessionId: string): Promise<void> {
  showSession(context, await (await context.client()).sessions.get({ sessionId }));
}

export interface ConnectOptions {
  /** Number of the phone that gets a pairing code in place of a QR code. */
  readonly pairingCode?: string;
  /** Whether to wait until the session is connected. */
  readonly wait: boolean;
}

/** Connects a session, and shows what links a phone to it until one is linked. */
export async function connectSession(context: Context, sessionId: string, options: ConnectOptions): Promise<void> {
  const client = await context.client();
  const signal = context.io.stopSignal();
  let session = await client.sessions.connect({ sessionId }, { signal });
  const pairing = new Pairing(context, client, sessionId, options.pairingCode);
  while (session.status === 'connecting' || session.status === 'awaiting_pairing') {
    if (session.status === 'awaiting_pairing') await pairing.show(signal);
    if (!options.wait) break;
    await wait(POLL_MS, undefined, { signal });
    session = await client.sessions.get({ sessionId }, { signal });
  }
  showSession(context, session);
  if (options.wait && session.status !== 'connected')
    throw new CliError(
      'failed',
      `The session is ${session.status}${session.error === null ? '' : `: ${session.error}`}.`,
    );
}

export async function disconnectSession(context: Context, sessionId: string): Promise<void> {
  showSession(context, await (await context.client()).sessions.disconnect({ sessionId }));
}

export async function restartSession(context: Context, sessionId: string): Promise<void> {
  showSession(context, await (await context.client()).sessions.restart({ sessionId }));
}

export async function logOutSession(context: Context, sessionId: string): Promise<void> {
  showSession(context, await (await context.client()).sessions.logout({ sessionId }));
}

export async function deleteSession(context: Context, sessionId: string, { yes }: { yes?: boolean }): Promise<void> {
  if (yes !== true)
    throw new CliError(
      'usage',
      `This deletes ${sessionId} with its chats, messages, contacts and groups, and cannot be undone. Confirm it with --yes.`,
    );
  const deleted = await (await context.client()).sessions.delete({ sessionId });
  context.out.result(deleted, () => context.out.line(`Deleted ${sessionId}.`));
}

/** Shows each new QR code, or one pairing code. */
export class Pairing {
  readonly #context: Pick<Context, 'io' | 'out'>;
  readonly #client: Client;
  readonly #sessionId: string;
  readonly #phoneNumber: string | undefined;
  #shown = '';

  constructor(
    context: Pick<Context, 'io' | 'out'>,
    client: Client,
    sessionId: string,
    phoneNumber: string | undefined,
  ) {
    this.#context = context;
    this.#client = client;
    this.#sessionId = sessionId;
    this.#phoneNumber = phoneNumber;
  }

  async show(signal: AbortSignal): Promise<void> {
    if (this.#phoneNumber === undefined) await this.#showQr(signal);
    else if (this.#shown === '') await this.#showCode(this.#phoneNumber, signal);
  }

  async #showQr(signal: AbortSignal): Promise<void> {
    const { out, io } = this.#context;
    // The phone may be linked between the two requests.
    const found = await this.#client.sessions.getQr({ sessionId: this.#sessionId }, { signal }).catch(ifPaired);
    if (found === undefined || found.qr === this.#shown) return;
    this.#shown = found.qr;
    if (out.isJson) return out.json({ type: 'qr', ...found });
    // Colors make the code dark on light in any terminal. Without them, it is drawn in the terminal's own.
    const isColored = io.stdout.isTTY === true && !io.env['NO_COLOR'];
    out.picture(await qrText(found.qr, { isColored }));
    out.line('Scan this code with the phone, in its list of linked devices.');
  }

  async #showCode(phoneNumber: string, signal: AbortSignal): Promise<void> {
    const { out } = this.#context;
    const found = await this.#client.sessions.requestPairingCode(
      { sessionId: this.#sessionId, phoneNumber },
      { signal },
    );
    this.#shown = found.code;
    out.result({ type: 'pairingCode', ...found }, () =>
      out.line('Enter this code on the phone: ', styled('bold', found.code)),
    );
  }
}

/** Without the text in its error: it may have secrets. */
function parseOptions(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // The same as other JSON.
  }
  throw new CliError('usage', 'Pass --options a JSON object.');
}

function ifPaired(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'session_state')) throw error;
}

function showSession({ out }: Context, session: Session): void {
  out.result(session, () =>
    out.fields({
      Session: session.sessionId,
      Name: session.name ?? undefined,
      Network: session.connector,
      Number: session.phoneNumber,
      Status: statusPart(session.status),
      Error: session.error ?? undefined,
      'Connected at': session.connectedAt ?? undefined,
      'Callback URL': session.callbackUrl ?? undefined,
    }),
  );
}

function statusPart(status: Session['status']): Part {
  if (status === 'connected') return styled('green', status);
  return status === 'failed' || status === 'logged_out' ? styled('red', status) : styled('yellow', status);
}
