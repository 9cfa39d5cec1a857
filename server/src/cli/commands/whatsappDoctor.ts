import { setTimeout as wait } from 'node:timers/promises';
import type { Session } from '../../../../sdk/src/api.ts';
import type { Client } from '../../../../sdk/src/client.ts';
import { ApiError, ConnectionError } from '../../../../sdk/src/errors.ts';
import { thrownMessage } from '../../thrown.ts';
import { version } from '../../version.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { Output, type Part, styled } from '../io.ts';
import { Pairing } from './sessions.ts';

export interface WhatsappDoctorOptions {
  /** The only WhatsApp session of the account if omitted; creates one if the account has no session. */
  readonly session?: string;
  /** Number of the phone that gets a pairing code in place of a QR code. */
  readonly pairingCode?: string;
  /** Seconds that each step may take. */
  readonly timeout: number;
}

/** Result of a step, without anything personal. */
export interface StepResult {
  readonly step: string;
  /** `skipped`: an earlier step failed that it needs. */
  readonly outcome: 'ok' | 'failed' | 'timeout' | 'skipped';
  /** Code of the API error, or null. */
  readonly code: string | null;
  /** WhatsApp's error code, such as 479; null if unknown. */
  readonly networkCode: number | null;
  /** Explanation without numbers, addresses, ids and quoted text, or null. */
  readonly detail: string | null;
  readonly durationMs: number;
}

/** A linked phone needs a person. */
const LINK_SECONDS = 180;
const POLL_MS = 500;
/** A send settles within 25 s, and may have lost the connection by then. */
const CLEANUP_SECONDS = 45;
const TEXT = 'Switchboard doctor';

/**
 * Tries on a linked number what a session does most: sends to itself, reacts, replies, edits, deletes, posts a status
 * to itself. Prints what WhatsApp answered, so that the output can be published.
 */
export async function whatsappDoctor(context: Context, options: WhatsappDoctorOptions): Promise<void> {
  const checkup = new Checkup(context, await context.client(), options);
  const stop = context.io.stopSignal();
  try {
    await checkup.run(stop);
  } finally {
    await checkup.cleanUp();
    showResults(context, checkup);
  }
  stop.throwIfAborted();
  const failed = checkup.results.filter(({ outcome }) => outcome !== 'ok');
  if (failed.length > 0) throw new CliError('failed', `${failed.length} of ${checkup.results.length} steps failed.`);
}

/** The steps, in order. A step that fails ends only those that need its result. */
class Checkup {
  readonly results: StepResult[] = [];
  /** Number of items that could not be cleaned up. */
  left = 0;
  readonly #context: Context;
  readonly #client: Client;
  readonly #options: WhatsappDoctorOptions;
  /** Items that the cleanup deletes. */
  readonly #leftovers = { messages: new Set<string>(), statuses: new Set<string>(), session: '' };
  /** Items of earlier runs. */
  #earlier: ReadonlySet<string> = new Set();
  #sessionId: string | undefined;
  /** Whether a send failed before the API returned an id. The item can exist anyway. */
  #isUncertain = false;

  constructor(context: Context, client: Client, options: WhatsappDoctorOptions) {
    this.#context = context;
    this.#client = client;
    this.#options = options;
  }

  async run(stop: AbortSignal): Promise<void> {
    const client = this.#client;
    const link = await this.#step('link', stop, (signal) => this.#link(signal), LINK_SECONDS);
    const to = link?.phoneNumber;
    const own = link && to ? { sessionId: link.sessionId, to } : undefined;
    const send = async (signal: AbortSignal, extra: { replyTo?: string }) => {
      const sending = client.messages.send({ ...required(own), message: TEXT, ...extra }, { signal });
      const { messageId } = await this.#noteUncertain(sending);
      this.#leftovers.messages.add(messageId);
      await this.#requireSent(messageId, signal);
      return messageId;
    };
    const change = (name: string, messageId: string | undefined, act: (id: string, signal: AbortSignal) => unknown) =>
      this.#step(name, stop, messageId && (async (signal) => void (await act(messageId, signal))));

    const text = await this.#step('send', stop, own && ((signal) => send(signal, {})));
    await change('react', text, (messageId, signal) => client.messages.react({ messageId, emoji: '👍' }, { signal }));
    await change('remove reaction', text, (messageId, signal) =>
      client.messages.react({ messageId, emoji: '' }, { signal }),
    );
    await this.#step('reply', stop, text && ((signal) => send(signal, { replyTo: text })));
    await change('edit', text, (messageId, signal) =>
      client.messages.edit({ messageId, message: `${TEXT} (edited)` }, { signal }),
    );
    await change('delete', text, (messageId, signal) => this.#deleteMessage(messageId, signal));
    const status = await this.#step('post status', stop, own && ((signal) => this.#postStatus(required(own), signal)));
    await change('delete status', status, (statusId, signal) => this.#deleteStatus(statusId, signal));
  }

  /** Deletes what the steps have left, even after Ctrl-C, as far as the server answers. */
  async cleanUp(): Promise<void> {
    const { messages, statuses, session } = this.#leftovers;
    const signal = AbortSignal.timeout(Math.max(this.#options.timeout, CLEANUP_SECONDS) * 1000);
    const whenConnected = (act: () => Promise<void>) => () => this.#whileReconnecting(act, signal);
    const isFound = !this.#isUncertain || (await this.#findLeftovers(signal).then(ifDone, ifFailed));
    const work: (() => Promise<unknown>)[] = [
      ...(isFound ? [] : [() => Promise.reject(new Error('the server did not list them'))]),
      ...[...messages].map((messageId) => whenConnected(() => this.#cleanUpMessage(messageId, signal))),
      ...[...statuses].map((statusId) => whenConnected(() => this.#cleanUpStatus(statusId, signal))),
      ...(session === '' ? [] : [() => this.#client.sessions.delete({ sessionId: session }, { signal })]),
    ];
    for (const remove of work) await remove().catch(() => this.left++);
    if (this.left > 0)
      this.#context.out.note(
        `${this.left} of ${work.length} items could not be cleaned up. If the phone shows “${TEXT}”, delete it there.`,
      );
  }

  async #noteUncertain<T>(sending: Promise<T>): Promise<T> {
    try {
      return await sending;
    } catch (error) {
      this.#isUncertain = true;
      throw error;
    }
  }

  /** Adds the items whose ids no step has learned. */
  async #findLeftovers(signal: AbortSignal): Promise<void> {
    const isNew = (id: string) => !this.#earlier.has(id);
    for (const id of (await this.#findMessages(signal)).filter(isNew)) this.#leftovers.messages.add(id);
    for (const id of (await this.#findStatuses(signal)).filter(isNew)) this.#leftovers.statuses.add(id);
  }

  async #findMessages(signal: AbortSignal): Promise<string[]> {
    const of = { sessionId: required(this.#sessionId), direction: 'outgoing', limit: 50 } as const;
    const { data } = await this.#client.messages.list(of, { signal });
    return data.filter(({ message, deleted }) => isOurs(message) && !deleted).map(({ messageId }) => messageId);
  }

  async #findStatuses(signal: AbortSignal): Promise<string[]> {
    return (await this.#listStatuses(signal)).map(({ statusId }) => statusId);
  }

  async #listStatuses(signal: AbortSignal) {
    const { data } = await this.#client.status.list({ sessionId: required(this.#sessionId), by: 'me' }, { signal });
    return data.filter(({ message }) => isOurs(message));
  }

  /**
   * Deletes a message once it is sent.
   * @throws {Error} it may have been sent, and cannot be deleted
   */
  async #cleanUpMessage(messageId: string, signal: AbortSignal): Promise<void> {
    const error = await this.#whenSettled(messageId, signal);
    if (error === null) await this.#deleteMessage(messageId, signal);
    else if (!isRefusal(error)) throw new Error(error);
  }

  /** @throws {Error} it may have been posted, and cannot be deleted */
  async #cleanUpStatus(statusId: string, signal: AbortSignal): Promise<void> {
    const status = (await this.#listStatuses(signal)).find((one) => one.statusId === statusId);
    if (status === undefined) return;
    await this.#deleteStatus(statusId, signal);
    const { state, error } = status;
    if (state === 'failed' && !isRefusal(error ?? '')) throw new Error(error ?? 'The status failed');
  }

  /** Repeats something while the session reconnects: an earlier step can have ended its connection. */
  async #whileReconnecting<T>(act: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'session_not_connected') throw error;
        const session = await this.#client.sessions.get({ sessionId: required(this.#sessionId) }, { signal });
        if (session.status !== 'connecting' && session.status !== 'connected') throw error;
        await wait(POLL_MS, undefined, { signal });
      }
    }
  }

  /** @param act undefined if an earlier step has failed that it needs */
  async #step<T>(
    step: string,
    stop: AbortSignal,
    act: ((signal: AbortSignal) => Promise<T>) | undefined | '',
    seconds = this.#options.timeout,
  ): Promise<T | undefined> {
    stop.throwIfAborted();
    if (!act) {
      this.#report({ ...NOTHING, step, outcome: 'skipped', durationMs: 0 });
      return undefined;
    }
    const startedAt = performance.now();
    const deadline = AbortSignal.timeout(seconds * 1000);
    const durationMs = () => Math.round(performance.now() - startedAt);
    try {
      const signal = AbortSignal.any([stop, deadline]);
      const result = await this.#whileReconnecting(() => act(signal), signal);
      this.#report({ ...NOTHING, step, outcome: 'ok', durationMs: durationMs() });
      return result;
    } catch (error) {
      stop.throwIfAborted();
      const outcome = deadline.aborted ? 'timeout' : 'failed';
      this.#report({ ...(deadline.aborted ? NOTHING : failureOf(error)), step, outcome, durationMs: durationMs() });
      return undefined;
    }
  }

  #report(result: StepResult): void {
    this.results.push(result);
    this.#context.out.note(`${result.step}: ${result.outcome}`);
  }

  async #link(signal: AbortSignal): Promise<Session> {
    const { sessionId } = await this.#findSession(signal);
    let session = await this.#client.sessions.get({ sessionId }, { signal });
    if (session.status !== 'connected') session = await this.#client.sessions.connect({ sessionId }, { signal });
    const { io } = this.#context;
    // Standard output has the results alone: the code is a secret.
    const shown = { io, out: new Output({ ...io, stdout: io.stderr }, false) };
    const pairing = new Pairing(shown, this.#client, sessionId, this.#options.pairingCode);
    while (session.status === 'connecting' || session.status === 'awaiting_pairing') {
      if (session.status === 'awaiting_pairing') await pairing.show(signal);
      await wait(POLL_MS, undefined, { signal });
      session = await this.#client.sessions.get({ sessionId }, { signal });
    }
    if (session.status !== 'connected') throw new Error(session.error ?? `The session is ${session.status}`);
    this.#sessionId = sessionId;
    this.#earlier = new Set([...(await this.#findMessages(signal)), ...(await this.#findStatuses(signal))]);
    return session;
  }

  async #findSession(signal: AbortSignal): Promise<Pick<Session, 'sessionId'>> {
    const { session: sessionId } = this.#options;
    if (sessionId !== undefined) return { sessionId };
    const { data } = await this.#client.sessions.list({ limit: 200 }, { signal });
    const [found, ...others] = data.filter(({ connector }) => connector === 'whatsapp');
    if (others.length > 0)
      throw new CliError('usage', 'There are several WhatsApp sessions. Pass the one to check with --session.');
    if (found !== undefined) return found;
    const created = await this.#client.sessions.create({ connector: 'whatsapp', name: 'doctor' }, { signal });
    this.#leftovers.session = created.sessionId;
    return created;
  }

  async #requireSent(messageId: string, signal: AbortSignal): Promise<void> {
    const error = await this.#whenSettled(messageId, signal);
    if (error !== null) throw new Error(error);
  }

  /** Waits while the message is queued. Returns the error if it failed, or null. */
  async #whenSettled(messageId: string, signal: AbortSignal): Promise<string | null> {
    for (;;) {
      const { status, error } = await this.#client.messages.get({ messageId }, { signal });
      if (status === 'failed') return error ?? 'The message failed';
      if (status !== 'queued') return null;
      await wait(POLL_MS, undefined, { signal });
    }
  }

  async #postStatus({ sessionId, to }: { sessionId: string; to: string }, signal: AbortSignal): Promise<string> {
    const posting = this.#client.status.post({ sessionId, message: TEXT, phoneNumbers: [to] }, { signal });
    const { statusId, state, error } = await this.#noteUncertain(posting);
    this.#leftovers.statuses.add(statusId);
    if (state === 'failed') throw new Error(error ?? 'The status failed');
    return statusId;
  }

  async #deleteMessage(messageId: string, signal: AbortSignal): Promise<void> {
    await this.#client.messages.delete({ messageId }, { signal });
    this.#leftovers.messages.delete(messageId);
  }

  async #deleteStatus(statusId: string, signal: AbortSignal): Promise<void> {
    await this.#client.status.delete({ statusId }, { signal });
    this.#leftovers.statuses.delete(statusId);
  }
}

const ifDone = () => true;
const ifFailed = () => false;

const isOurs = (text: string | null | undefined): boolean => text?.startsWith(TEXT) === true;

const NETWORK_CODE = /\((\d{3})\)/;

/** Whether WhatsApp answered with an error, so that it does not have the message. */
const isRefusal = (error: string): boolean => NETWORK_CODE.test(error);

const NOTHING = { code: null, networkCode: null, detail: null };

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a step that needs a linked session runs without one');
  return value;
}

/** Errors of the arguments and of the access end the command: no later step could succeed. */
function failureOf(error: unknown): Pick<StepResult, 'code' | 'networkCode' | 'detail'> {
  if (error instanceof CliError) throw error;
  // WhatsApp's own refusal has the status 403 too.
  if (error instanceof ApiError && [401, 403].includes(error.status) && error.code !== 'network_denied') throw error;
  const message = thrownMessage(error);
  const networkCode = NETWORK_CODE.exec(message)?.[1];
  const code = error instanceof ApiError ? error.code : error instanceof ConnectionError ? 'unreachable' : 'failed';
  return {
    code,
    networkCode: networkCode === undefined ? null : Number(networkCode),
    detail: error instanceof ConnectionError ? null : withoutPersonalData(message),
  };
}

/** Removes quoted text, addresses, ids and everything that could be a phone number. */
export function withoutPersonalData(text: string): string {
  return text
    .replace(/"[^"]*"|“[^”]*”|`[^`]*`/g, '…')
    .replace(/\S*(?:@|:\/\/)\S*/g, '…')
    .replace(/\b[a-z]{2,4}_[0-9A-Za-z]{6,}/g, '…')
    .replace(/\+?\d(?:[\s().-]*\d){4,}/g, '…');
}

function showResults({ out }: Context, { results: steps, left }: Checkup): void {
  out.result({ version, steps, left }, () => {
    const rows = steps.map(({ step, outcome, code, networkCode, durationMs, detail }): Part[] => [
      step,
      styled(outcome === 'ok' ? 'green' : outcome === 'skipped' ? 'yellow' : 'red', outcome),
      networkCode,
      code,
      `${durationMs} ms`,
      detail,
    ]);
    out.line(`Switchboard ${version}`);
    out.table(['STEP', 'RESULT', 'WHATSAPP', 'CODE', 'TIME', 'DETAIL'], rows);
  });
}
