import { randomBytes } from 'node:crypto';
import type { AuthenticationCreds, BaileysEventMap, UserFacingSocketConfig, WASocket } from 'baileys';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { NetworkEvent } from '../../connector.ts';
import { backoffMs, type End, type Ending, endingOf } from './endings.ts';
import type { Baileys } from './load.ts';

/** What a link tells of itself. */
type LinkEvent = Extract<NetworkEvent, { type: 'pairing' | 'connected' | 'disconnected' | 'logged_out' }>;

/**
 * A session's link to the network, over all the sockets that it takes: a socket is good for one connection.
 *
 * It begins with a socket. A device that is not linked shows QR codes, one after the other, until one is scanned or a
 * pairing code is typed; the server then ends the socket (515) and the next one is that of a linked device. A socket
 * that opens makes the link `open`. When one ends, `endings.ts` says what follows: the next socket now, or later and
 * later, or none before somebody acts. The outside is told of an outage once when it begins and once when it is over.
 */
export interface Link {
  start(): void;
  /** The socket that is open now. */
  readonly socket: WASocket | undefined;
  /** The newest socket, open or not: for what works without a connection, such as looking up keys. */
  readonly latest: WASocket | undefined;
  /** Waits for an open socket. @throws {AppError} `session_not_connected` when there is none in time */
  whenOpen(timeoutMs: number): Promise<WASocket>;
  /** A code to type on the phone instead of scanning. @throws {AppError} `session_state`, `send_failed` */
  requestPairingCode(phoneNumber: string): Promise<{ code: string; expiresAt: number }>;
  /** Somebody wants it now: what it waits for before the next attempt is waited for no longer. */
  retry(): void;
  /** The connection is dead without having ended: begins another one. */
  reset(reason: string): void;
  /** Ends it for good and keeps the credentials. */
  close(): Promise<void>;
  /** Unlinks the device on the network, as far as it can be reached. */
  logout(): Promise<void>;
}

/** How long the server lets a code live. The first is shown longer, for somebody has to find the phone. */
const FIRST_QR_MS = 60_000;
const NEXT_QR_MS = 20_000;
/** Six codes, the first of which lives longer: then the server has no more. */
const PAIRING_MS = FIRST_QR_MS + 5 * NEXT_QR_MS;
/** From the first byte to a QR code or an open connection. */
const OPENING_MS = 45_000;
/** A connection that lasts this long was a good one: after it, waiting begins anew. */
const STABLE_MS = 30_000;
/** Restarts in a row that are believed; a server that wants more is treated as one that fails. */
const RESTARTS = 3;
const CODE_ANSWER_MS = 3000;
/**
 * An account could scan ports by naming them as its proxy. So a proxy that does not lead to WhatsApp is reported in the
 * same words and after the same time, whether it refuses, says nothing or is no proxy.
 */
const PROXY_VERDICT_MS = 25_000;
const NO_WAY_THROUGH =
  'The session did not get through its proxy to WhatsApp: check the address, name and password in options.proxy';

export function createLink({
  baileys,
  creds,
  isLinked,
  hasProxy,
  socketConfig,
  clock,
  log,
  random,
  silenceMs,
  tell,
  onSocket,
  onLost,
  onOver,
}: {
  baileys: Baileys;
  creds: AuthenticationCreds;
  isLinked: () => boolean;
  hasProxy: boolean;
  socketConfig: () => UserFacingSocketConfig;
  clock: Clock;
  log: Log;
  random: () => number;
  /** A server that says nothing for so long, pings included, is taken for gone. */
  silenceMs: number;
  tell: (event: LinkEvent) => void;
  /** A socket was made: whoever wants to hear something of it says so now. */
  onSocket: (socket: WASocket) => void;
  /** A socket has ended: what it had under way will not be answered. */
  onLost: () => void;
  /** There will be no more sockets, which is still to be told. With `logged_out` the credentials are worthless. */
  onOver: (last: LinkEvent) => void;
}): Link {
  let current: WASocket | undefined;
  let state: 'opening' | 'pairing' | 'open' | 'waiting' | 'closed' = 'opening';
  let attempts = 0;
  let restarts = 0;
  /** What was said of the present outage. */
  let told: string | undefined;
  let pairingEndsAt: number | undefined;
  let codeRequested = false;
  let lastFrameAt = 0;
  /** Whether the present socket has reached WhatsApp. */
  let hasReached = false;
  let cancelVerdict: (() => void) | undefined;
  let cancelTimer = () => {};
  let cancelWatch = () => {};
  let cancelStable = () => {};
  const waiters = new Set<{ open(socket: WASocket): void; fail(): void }>();

  function connect(): void {
    if (state === 'closed') return;
    state = 'opening';
    hasReached = false;
    if (hasProxy) cancelVerdict ??= clock.after(PROXY_VERDICT_MS, () => report(NO_WAY_THROUGH));
    pairingEndsAt = undefined;
    codeRequested = false;
    // A pairing code that nobody has typed has left a name without an account: with it the login would be refused.
    if (!isLinked()) creds.me = undefined;
    const socket = baileys.makeWASocket(socketConfig());
    current = socket;
    // A socket that is given up goes on talking for a moment.
    const ifCurrent =
      <T>(handle: (event: T) => void) =>
      (event: T) => {
        if (current === socket && state !== 'closed') handle(event);
      };
    socket.ev.on('connection.update', ifCurrent(onUpdate));
    socket.ws.on(
      'open',
      ifCurrent(() => {
        hasReached = true;
        cancelVerdict?.();
        cancelVerdict = undefined;
      }),
    );
    socket.ws.on('frame', () => {
      lastFrameAt = clock.now();
    });
    socket.ws.on('CB:notification,type:companion_reg_refresh', ifCurrent(onRefresh));
    onSocket(socket);
    watch(socket);
  }

  /**
   * Baileys notices silence as well, but ends such a connection in good manners, which a dead one has no part in and
   * which takes it a minute and a half: time in which messages are lost.
   */
  function watch(socket: WASocket): void {
    lastFrameAt = clock.now();
    const startedAt = lastFrameAt;
    const look = () => {
      if (current !== socket || state === 'closed') return;
      const now = clock.now();
      if (state === 'opening' && now - startedAt > OPENING_MS) return reset('WhatsApp does not answer');
      // Who is shown a code is looking for a phone: there is time.
      const limitMs = state === 'open' ? silenceMs : Math.max(silenceMs, OPENING_MS);
      if (now - lastFrameAt > limitMs) return reset('WhatsApp does not answer');
      cancelWatch = clock.after(silenceMs / 3, look);
    };
    cancelWatch = clock.after(silenceMs / 3, look);
  }

  let lastQr: string | undefined;

  function onUpdate({ qr, connection, lastDisconnect }: BaileysEventMap['connection.update']): void {
    if (qr !== undefined) onQr(qr);
    if (connection === 'open') onOpen();
    if (connection === 'close') onEnd(toEnd(lastDisconnect?.error));
  }

  function onQr(qr: string): void {
    lastQr = qr;
    told = undefined;
    const isFirst = pairingEndsAt === undefined;
    state = 'pairing';
    const now = clock.now();
    pairingEndsAt ??= now + PAIRING_MS;
    // Who types a code looks at no QR any more.
    if (codeRequested) return;
    tell({ type: 'pairing', qr: withSecret(qr), expiresAt: now + (isFirst ? FIRST_QR_MS : NEXT_QR_MS) });
  }

  /** The server wants a new secret in the code (WhiskeySockets/Baileys#2737, which Baileys does not do by itself). */
  function onRefresh(): void {
    creds.advSecretKey = randomBytes(32).toString('base64');
    if (state === 'pairing' && lastQr !== undefined) onQr(lastQr);
  }

  /** Baileys writes the secret that it began with into every code. */
  function withSecret(qr: string): string {
    const parts = qr.split(',');
    parts[SECRET_PART] = creds.advSecretKey;
    return parts.join(',');
  }
  const SECRET_PART = 3;

  function onOpen(): void {
    const socket = current;
    const phoneNumber = baileys.jidDecode(creds.me?.id)?.user;
    if (socket === undefined || phoneNumber === undefined) return;
    state = 'open';
    told = undefined;
    cancelStable = clock.after(STABLE_MS, () => {
      restarts = 0;
      attempts = 0;
    });
    tell({ type: 'connected', phoneNumber });
    for (const waiter of [...waiters]) waiter.open(socket);
  }

  function toEnd(error: Error | undefined): End {
    const { statusCode, data } = boomOf(error);
    return { code: statusCode, message: error?.message ?? 'it ended', data };
  }

  function onEnd(end: End): void {
    // What a proxy answers in WhatsApp's place, such as 401, says nothing about the device.
    const ending: Ending = isStuckInProxy() ? { next: 'later', reason: NO_WAY_THROUGH } : endingOf(end, isLinked());
    log.info({ code: end.code, reason: end.message, next: ending.next }, 'connection to WhatsApp ended');
    follow(ending);
  }

  const isStuckInProxy = () => hasProxy && !hasReached;

  function follow(ending: Ending): void {
    release();
    switch (ending.next) {
      case 'now':
        if (++restarts <= RESTARTS) connect();
        else retry('WhatsApp ends every connection', undefined);
        break;
      case 'later':
        retry(ending.reason, ending.afterMs);
        break;
      case 'stop':
        finish();
        onOver({ type: 'disconnected', reason: ending.reason, willReconnect: false });
        break;
      case 'unlinked':
        finish();
        onOver({ type: 'logged_out', reason: ending.reason });
    }
  }

  function retry(reason: string, afterMs: number | undefined): void {
    state = 'waiting';
    // The verdict on a proxy has its own time.
    if (reason !== NO_WAY_THROUGH) report(reason);
    cancelTimer = clock.after(afterMs ?? backoffMs(attempts++, random), connect);
  }

  function report(reason: string): void {
    if (told === reason) return;
    told = reason;
    tell({ type: 'disconnected', reason, willReconnect: true });
  }

  /** Lets go of the present socket. */
  function release(): void {
    cancelWatch();
    cancelStable();
    cancelTimer();
    if (current === undefined) return;
    current = undefined;
    onLost();
  }

  function finish(): void {
    release();
    cancelVerdict?.();
    state = 'closed';
    for (const waiter of [...waiters]) waiter.fail();
  }

  function reset(reason: string): void {
    const socket = current;
    if (socket === undefined || state === 'closed') return;
    log.warn({ reason }, 'giving up a connection to WhatsApp');
    follow({ next: 'later', reason: isStuckInProxy() ? NO_WAY_THROUGH : reason });
    terminate(socket);
  }

  function whenOpen(timeoutMs: number): Promise<WASocket> {
    if (state === 'open' && current !== undefined) return Promise.resolve(current);
    if (state === 'closed') return Promise.reject(new AppError('session_not_connected'));
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiters.delete(waiter);
        cancel();
      };
      const waiter = {
        open(socket: WASocket) {
          leave();
          resolve(socket);
        },
        fail() {
          leave();
          reject(new AppError('session_not_connected'));
        },
      };
      const cancel = clock.after(timeoutMs, waiter.fail);
      waiters.add(waiter);
    });
  }

  async function requestPairingCode(phoneNumber: string) {
    const socket = current;
    if (state !== 'pairing' || socket === undefined || pairingEndsAt === undefined)
      throw new AppError(
        'session_state',
        'The session is not waiting to be paired; its status must be awaiting_pairing',
      );
    codeRequested = true;
    const refusal = refusalOfCode(socket);
    const code = await socket.requestPairingCode(phoneNumber).catch((cause: unknown) => {
      throw new AppError(
        'send_failed',
        'WhatsApp did not answer the request for a pairing code; try again, or scan the QR code',
        { cause },
      );
    });
    const refused = await refusal;
    if (refused !== undefined) {
      codeRequested = false;
      creds.me = undefined;
      throw new AppError(
        'send_failed',
        `WhatsApp refused a pairing code for this number (${refused}); wait, or scan the QR code`,
      );
    }
    return { code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresAt: pairingEndsAt };
  }

  /** Baileys does not wait for the server's answer, which may be a refusal. @returns its number */
  function refusalOfCode({ ws }: WASocket): Promise<string | undefined> {
    return new Promise((resolve) => {
      const settle = (answer: string | undefined) => {
        cancel();
        ws.off('CB:iq,type:error', onError);
        ws.off('CB:iq,,link_code_companion_reg', onAnswer);
        resolve(answer);
      };
      const onError = (node: { content?: unknown }) => {
        const [error] = Array.isArray(node.content) ? node.content : [];
        settle(error?.attrs?.code ?? 'error');
      };
      const onAnswer = () => settle(undefined);
      const cancel = clock.after(CODE_ANSWER_MS, onAnswer);
      ws.on('CB:iq,type:error', onError);
      ws.on('CB:iq,,link_code_companion_reg', onAnswer);
    });
  }

  async function close(): Promise<void> {
    const socket = current;
    finish();
    if (socket !== undefined) await endOrTerminate(socket);
  }

  async function endOrTerminate(socket: WASocket): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = clock.after(GOODBYE_MS, () => {
        terminate(socket);
        resolve();
      });
      socket
        .end(undefined)
        .catch(() => {})
        .finally(() => {
          cancel();
          resolve();
        });
    });
  }

  async function logout(): Promise<void> {
    const socket = state === 'open' ? current : undefined;
    if (socket !== undefined) {
      await socket.logout().catch((error) => log.warn({ err: error }, 'failed to log out of WhatsApp'));
    }
    await close();
  }

  return {
    start: connect,
    get socket() {
      return state === 'open' ? current : undefined;
    },
    get latest() {
      return current;
    },
    whenOpen,
    requestPairingCode,
    retry() {
      if (state !== 'waiting') return;
      cancelTimer();
      connect();
    },
    reset,
    close,
    logout,
  };
}

/** How long the other side may take to see a connection out. */
const GOODBYE_MS = 2000;

/** Breaks a connection off, with no word to a side that does not answer. */
function terminate(socket: WASocket): void {
  // Baileys keeps the WebSocket to itself and would wait for its closing handshake.
  const { socket: inner } = socket.ws as unknown as { socket: { terminate(): void } | null };
  inner?.terminate();
  socket.end(undefined).catch(() => {});
}

/**
 * What Baileys' errors hold, which are those of @hapi/boom: a status of its own, or as plain `data` the number that the
 * server gave, and what else came with it.
 */
export function boomOf(error: unknown): { statusCode: number | undefined; data: Readonly<Record<string, unknown>> } {
  if (typeof error !== 'object' || error === null) return { statusCode: undefined, data: {} };
  const { output, data } = error as { output?: { statusCode?: number }; data?: unknown };
  return {
    statusCode: typeof data === 'number' ? data : output?.statusCode,
    data: typeof data === 'object' && data !== null ? { ...data } : {},
  };
}
