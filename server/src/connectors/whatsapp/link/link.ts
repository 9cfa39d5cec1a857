import { EventEmitter } from 'node:events';
import type { AuthenticationCreds, BaileysEventMap, UserFacingSocketConfig, WASocket } from 'baileys';
import { Condition } from '../../../async.ts';
import type { Settings } from '../../../config.ts';
import { AppError, isConnecting } from '../../../errors.ts';
import type { WebVersion } from '../../../settingKinds.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import type { SessionHost } from '../../contract/host.ts';
import {
  backoffMs,
  type Ending,
  endingOf,
  OUTDATED,
  OUTDATED_FOR_GOOD,
  PASSKEY_REQUIRED,
  TEMPORARY_BAN,
} from './endings.ts';
import { boomOf } from './errors.ts';
import type { Baileys } from './load.ts';
import { Pairing } from './pairing.ts';
import { endSocket, terminate } from './socket.ts';
import type { VersionReader, WebVersions } from './webVersion.ts';

type LinkEvent = Extract<NetworkEvent, { type: 'pairing' | 'connected' | 'disconnected' | 'logged_out' }>;

interface LinkEvents {
  /** A socket was made. Listeners subscribe to its events now. */
  socket: [socket: WASocket];
  /** The session is connected. */
  open: [socket: WASocket];
  /** The socket has ended: its requests will not be answered. */
  lost: [];
  /** The state has changed, and the host must know. */
  report: [event: LinkEvent | Extract<NetworkEvent, { type: 'warned' }>];
  /** No more sockets follow. The event must still be reported; after `logged_out` the credentials are worthless. */
  end: [last: LinkEvent];
}

interface LinkDeps {
  readonly settings: Pick<Settings, 'whatsappKeepAliveSeconds'> & { readonly random: () => number };
  readonly baileys: Baileys;
  readonly creds: AuthenticationCreds;
  readonly hasProxy: boolean;
  readonly host: SessionHost;
  readonly versions: WebVersions;
  /** Reads the current version if the server refuses ours. */
  readonly versionReader: VersionReader;
}

/** From the first byte to a QR code or an open connection. */
const OPENING_MS = 45_000;
/** After a connection that lasted this long, backoff and restarts are reset. */
const STABLE_MS = 30_000;
/** Limits the restarts in a row that the server may request; further ones count as failures. */
const RESTARTS = 3;
/** The same error after the same time, however a proxy fails: an account could otherwise scan ports by naming them. */
const PROXY_VERDICT_MS = 25_000;
const BLOCKED_BY_PROXY =
  'The session could not reach WhatsApp through its proxy; check the address, user name and password in `options.proxy`';
const NO_ANSWER = 'WhatsApp does not answer';

/**
 * A session's link to the network, over a series of sockets, each of which lasts for one connection.
 *
 * - opening: a socket was made. It shows a QR code → pairing, or logs in → open.
 * - pairing: the device shows QR codes until one is scanned or a pairing code is typed. The server then ends the socket
 *   (515), and the next one is that of a linked device.
 * - open: the session is connected.
 * - waiting: the last socket has ended, and the next one is made later.
 * - closed: for good.
 *
 * When a socket ends, `endings.ts` decides the next step: a new socket now or later, or none until somebody acts. An
 * outage is reported when it begins, whenever its reason changes, and when it ends.
 */
export class Link extends EventEmitter<LinkEvents> {
  readonly #deps: LinkDeps;
  readonly #changed = new Condition();
  #config: UserFacingSocketConfig | undefined;
  #state: 'opening' | 'pairing' | 'open' | 'waiting' | 'closed' = 'opening';
  #socket: WASocket | undefined;
  /** The version of the newest socket. */
  #version: WebVersion | undefined;
  #pairing: Pairing | undefined;
  /** The last reported reason of the current outage. */
  #outage: string | undefined;
  #attempts = 0;
  #restarts = 0;
  /** Whether the version was renewed since the last wait, which a refusal can end only once. */
  #hasRenewed = false;
  /** Whether a person has asked to connect since the last connection or renewal. */
  #isAsked = false;
  #hasReached = false;
  #cancelVerdict: (() => void) | undefined;
  #cancelRetry = () => {};
  #cancelWatch = () => {};
  #cancelStable = () => {};

  constructor(deps: LinkDeps) {
    super();
    this.setMaxListeners(0); // every part of the connection listens
    this.#deps = deps;
  }

  /** Makes the first socket. Listeners of the link must subscribe before this. */
  start(config: UserFacingSocketConfig): void {
    this.#config = config;
    this.#connect();
  }

  /** The open socket. */
  get socket(): WASocket | undefined {
    return this.#state === 'open' ? this.#socket : undefined;
  }

  /** The newest socket, open or not: for work that needs no connection, such as looking up keys. */
  get newest(): WASocket | undefined {
    return this.#socket;
  }

  /** @throws {AppError} `session_not_connected` */
  requireSocket(): WASocket {
    const { socket } = this;
    if (socket === undefined) throw this.#state === 'closed' ? new AppError('session_not_connected') : isConnecting();
    return socket;
  }

  /** @throws {AppError} `session_not_connected` if there is no open socket in time */
  async whenOpen(timeoutMs: number): Promise<WASocket> {
    const isSettled = () => this.#state === 'open' || this.#state === 'closed';
    await this.#changed.untilOrAfter(this.#deps.host.clock, timeoutMs, isSettled);
    return this.requireSocket();
  }

  /** @throws {AppError} `session_state`, `send_failed` */
  async requestPairingCode(phoneNumber: string): Promise<{ code: string; expiresAt: number }> {
    if (this.#state !== 'pairing' || this.#pairing === undefined)
      throw new AppError(
        'session_state',
        'The session is not waiting to be paired; its status must be awaiting_pairing',
      );
    return this.#pairing.requestCode(phoneNumber);
  }

  /** Makes the next attempt immediately if the link waits for it, because a person asked to connect. */
  retry(): void {
    this.#isAsked = true;
    this.#retryNow();
  }

  #retryNow(): void {
    if (this.#state !== 'waiting') return;
    this.#cancelRetry();
    this.#connect();
  }

  /** Replaces a connection that is dead but has not ended. */
  reset(reason: string): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#deps.host.log.warn({ reason }, 'giving up a connection to WhatsApp');
    this.#follow({ next: 'later', reason: this.#isBlockedByProxy() ? BLOCKED_BY_PROXY : reason });
    terminate(socket);
  }

  /** Ends the link for good and keeps the credentials. */
  async close(): Promise<void> {
    const socket = this.#socket;
    this.#finish();
    if (socket !== undefined) await endSocket(socket, this.#deps.host.clock);
  }

  /** Unlinks the device if the session is connected, then closes the link. */
  async logout(): Promise<void> {
    await this.socket
      ?.logout()
      .catch((error) => this.#deps.host.log.warn({ err: error }, 'failed to log out of WhatsApp'));
    await this.close();
  }

  #connect(): void {
    if (this.#state === 'closed' || this.#config === undefined) return;
    this.#state = 'opening';
    this.#hasReached = false;
    if (this.#deps.hasProxy)
      this.#cancelVerdict ??= this.#deps.host.clock.after(PROXY_VERDICT_MS, () => this.#reportOutage(BLOCKED_BY_PROXY));
    // An unused pairing code leaves `me` without `account`, and WhatsApp rejects a login with that.
    if (!this.#isLinked()) this.#deps.creds.me = undefined;
    const { versions, baileys } = this.#deps;
    const version = versions.current ?? baileys.DEFAULT_CONNECTION_CONFIG.version;
    this.#version = version;
    versions.warnIfOld(this.#deps.host);
    const socket = baileys.makeWASocket({ ...this.#config, version: [...version] });
    this.#socket = socket;
    this.#pairing = new Pairing(socket, this.#deps.creds, this.#deps.host.clock, (event) => this.emit('report', event));
    // An abandoned socket still emits events for a moment.
    const ifCurrent = (action: () => void) => {
      if (this.#socket === socket) action();
    };
    const { ev, ws } = socket;
    ev.on('connection.update', (update) => ifCurrent(() => this.#onUpdate(socket, update)));
    ws.on('open', () => ifCurrent(() => this.#onReached()));
    ws.on('CB:notification,type:companion_reg_refresh', () => ifCurrent(() => this.#pairing?.renewSecret()));
    ws.on('CB:notification,type:passkey_prologue_request', () => ifCurrent(() => this.#onPasskeyRequest(socket)));
    this.emit('socket', socket);
    this.#watch(socket);
  }

  /** Stops instead of showing more codes: linking cannot complete. */
  #onPasskeyRequest(socket: WASocket): void {
    if (this.#isLinked()) return;
    this.#follow(PASSKEY_REQUIRED);
    terminate(socket);
  }

  #onReached(): void {
    this.#hasReached = true;
    this.#cancelVerdict?.();
    this.#cancelVerdict = undefined;
  }

  /** Baileys notices silence too, but waits 90 s for the closing handshake of a dead connection, and loses messages. */
  #watch(socket: WASocket): void {
    const { clock } = this.#deps.host;
    // A server that sends nothing for this long, not even pings, is gone.
    const silenceMs = this.#deps.settings.whatsappKeepAliveSeconds * 1500;
    const startedAt = clock.now();
    let lastFrameAt = startedAt;
    socket.ws.on('frame', () => {
      lastFrameAt = clock.now();
    });
    const scheduleCheck = () => {
      this.#cancelWatch = clock.after(silenceMs / 3, check);
    };
    const check = () => {
      if (this.#socket !== socket) return;
      const now = clock.now();
      // A person who is shown a code needs time to get the phone.
      const limitMs = this.#state === 'open' ? silenceMs : Math.max(silenceMs, OPENING_MS);
      const isLate = this.#state === 'opening' && now - startedAt > OPENING_MS;
      if (isLate || now - lastFrameAt > limitMs) this.reset(NO_ANSWER);
      else scheduleCheck();
    };
    scheduleCheck();
  }

  #onUpdate(socket: WASocket, { qr, connection, lastDisconnect }: BaileysEventMap['connection.update']): void {
    if (qr !== undefined) {
      this.#state = 'pairing';
      this.#outage = undefined;
      this.#pairing?.show(qr);
    }
    if (connection === 'open') this.#onOpen(socket);
    if (connection === 'close') this.#onEnd(lastDisconnect?.error);
  }

  #onOpen(socket: WASocket): void {
    const phoneNumber = this.#deps.baileys.jidDecode(this.#deps.creds.me?.id)?.user;
    if (phoneNumber === undefined) return;
    this.#state = 'open';
    this.#hasRenewed = false;
    this.#isAsked = false;
    this.#outage = undefined;
    this.#cancelStable = this.#deps.host.clock.after(STABLE_MS, () => {
      this.#restarts = 0;
      this.#attempts = 0;
    });
    this.emit('report', { type: 'connected', phoneNumber });
    this.#changed.notify();
    this.emit('open', socket);
  }

  #onEnd(error: Error | undefined): void {
    const { statusCode: code, data } = boomOf(error);
    const reason = error?.message ?? 'it was closed without a reason';
    // An answer of the proxy instead of WhatsApp, such as 401, says nothing about the device.
    const ending: Ending = this.#isBlockedByProxy()
      ? { next: 'later', reason: BLOCKED_BY_PROXY }
      : endingOf({ code, message: reason, data }, this.#isLinked());
    if (code === TEMPORARY_BAN && !this.#isBlockedByProxy())
      this.emit('report', { type: 'warned', warning: 'restricted', timestamp: this.#deps.host.clock.now() });
    this.#deps.host.log.info({ code, reason, next: ending.next }, 'connection to WhatsApp ended');
    if (code === OUTDATED && this.#deps.versions.isAutomatic && !this.#isBlockedByProxy()) void this.#renewVersion();
    else this.#follow(ending);
  }

  /** Connects with the version that WhatsApp states, or waits if it states none or has refused it too. */
  async #renewVersion(): Promise<void> {
    if (this.#hasRenewed) {
      this.#follow(OUTDATED_FOR_GOOD);
      return;
    }
    const { versions, versionReader, host } = this.#deps;
    const refused = this.#version;
    if (refused === undefined) return;
    this.#hasRenewed = true;
    const isAsked = this.#isAsked;
    this.#isAsked = false;
    this.#release();
    this.#state = 'waiting';
    try {
      const version = await versions.renew(refused, { ...versionReader, isAsked });
      host.log.info({ refused, version }, 'WhatsApp refused the version of the client; using the current one');
      this.#retryNow();
    } catch (error) {
      if (this.#state !== 'waiting') return;
      host.log.warn({ err: error }, 'failed to read the current version of WhatsApp Web; trying again later');
      this.#follow(OUTDATED_FOR_GOOD);
    }
  }

  #isLinked(): boolean {
    return this.#deps.creds.account !== undefined;
  }

  #isBlockedByProxy(): boolean {
    return this.#deps.hasProxy && !this.#hasReached;
  }

  #follow(ending: Ending): void {
    this.#release();
    switch (ending.next) {
      case 'now':
        if (++this.#restarts <= RESTARTS) this.#connect();
        else this.#connectLater('WhatsApp repeatedly asked for a reconnect; trying again later');
        break;
      case 'later':
        this.#connectLater(ending.reason, ending.afterMs);
        break;
      case 'stop':
        this.#finish();
        this.emit('end', { type: 'disconnected', reason: ending.reason, willReconnect: false });
        break;
      case 'unlinked':
        this.#finish();
        this.emit('end', { type: 'logged_out', reason: ending.reason });
    }
  }

  #connectLater(reason: string, afterMs = backoffMs(this.#attempts++, this.#deps.settings.random)): void {
    this.#state = 'waiting';
    this.#hasRenewed = false;
    // The verdict on a proxy has its own delay.
    if (reason !== BLOCKED_BY_PROXY) this.#reportOutage(reason);
    this.#cancelRetry = this.#deps.host.clock.after(afterMs, () => this.#connect());
  }

  #reportOutage(reason: string): void {
    if (this.#outage === reason) return;
    this.#outage = reason;
    this.emit('report', { type: 'disconnected', reason, willReconnect: true });
  }

  #release(): void {
    this.#cancelWatch();
    this.#cancelStable();
    this.#cancelRetry();
    if (this.#socket === undefined) return;
    this.#socket = undefined;
    this.emit('lost');
  }

  #finish(): void {
    this.#release();
    this.#cancelVerdict?.();
    this.#state = 'closed';
    this.#changed.notify();
  }
}
