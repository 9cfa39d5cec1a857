import './encryption/signalContexts.ts';
import { createServer, STATUS_CODES } from 'node:http';
import type { BinaryNode } from 'baileys';
import { WebSocketServer } from 'ws';
import { portOf } from '../connections/listening.ts';
import { type Connection, serveConnection } from './connection.ts';
import { createServerIdentity } from './encryption/noise.ts';
import { silenceLibsignal } from './encryption/silence.ts';
import { createLog } from './log.ts';
import { type Counters, createCounters, deliver, type MessageWatcher, type Network } from './network.ts';
import { createPhone, type Phone } from './phone/phone.ts';
import { requireAccount } from './server/account.ts';
import { handleStanza } from './server/clientStanzas.ts';
import { createFaults, type Faults } from './server/faults.ts';
import { openSession } from './server/login.ts';
import { startMediaHost, trust } from './server/mediaHost.ts';
import { answerPage } from './server/webPage.ts';

export type { Log } from './log.ts';
export type { Counters } from './network.ts';
export type { ReceivedMessage, ReceivedReceipt, ReceivedTyping, SendOptions } from './phone/mailbox.ts';
export type { Phone } from './phone/phone.ts';
export { openSealed, sealChange } from './phone/sealing.ts';
export type { Faults, Refusal, StreamEnd } from './server/faults.ts';

/**
 * A fake WhatsApp network for tests with the real client: real handshake, linking, Signal encryption and media over
 * TLS, on loopback. People are phones controlled by the test. A client of any number may be linked, and exchanges
 * messages with them and with other clients.
 *
 * ```ts
 * const whatsapp = await startFakeWhatsapp();
 * whatsapp.trustMedia();
 * const me = whatsapp.phone('15550001000', 'Me');
 * const bob = whatsapp.phone('15550002000', 'Bob');
 * const socket = makeWASocket({ waWebSocketUrl: whatsapp.url, … });  // the client; shows a QR code
 * await me.scan(qr);
 * await bob.sendText(me.number, 'hello');
 * await bob.messages.waitFor(({ message }) => message.conversation === 'hi');
 * whatsapp.faults.drop(me.number);
 * ```
 *
 * It prevents libsignal from writing keys to the console of this process. A test that watches the console, or measures
 * its own process, starts it in another one: `forkFakeWhatsapp` (remote.ts).
 */
export interface FakeWhatsapp {
  /** The client's `waWebSocketUrl`. */
  readonly url: string;
  /** Host and port of the media host. */
  readonly mediaHost: string;
  /** Settings with which a Switchboard server connects to this network. */
  readonly env: Readonly<Record<'WHATSAPP_URL' | 'WHATSAPP_MEDIA_HOST', string>>;
  /** The certificate of the media host (PEM), for `NODE_EXTRA_CA_CERTS` of another process. */
  readonly ca: string;
  /** Makes this process trust the media host. */
  trustMedia(): void;
  /** The root of the server's Noise certificates, for a client that verifies it (the current one does not). */
  readonly rootPublicKey: Uint8Array;
  /** The phone of a number, digits only. Returns the same one each time. */
  phone(number: string, name?: string): Phone;
  /** Scans a QR code with a phone. Resolves once the client is linked. */
  scan(qr: string, number: string): Promise<void>;
  /** Puts a file on the media host without encryption. @returns its path */
  putFile(content: Buffer): string;
  /** Switches a group from numbers to LIDs, as WhatsApp does one by one. */
  migrateGroup(group: string): void;
  /** Sends any stanza to the clients of a number, for features that the fake does not have, such as calls. */
  inject(number: string, stanza: BinaryNode): void;
  /** Shows every message stanza of a client as it arrives, still encrypted. @returns how to stop it */
  watchMessages(watcher: MessageWatcher): () => void;
  readonly faults: Faults;
  readonly counters: Counters;
  /** Clients that are currently logged in. */
  readonly online: number;
  /** Errors of a client or of this server. A test can end by asserting that there are none. */
  readonly troubles: readonly unknown[];
  close(): Promise<void>;
}

export interface FakeWhatsappOptions {
  /** A free one by default. */
  readonly port?: number;
  /**
   * Whether accounts have been migrated to LIDs, as by default: a client's direct message to the number of a person is
   * refused with 463, even if the person has written (Baileys #2683, #2688, #2698: to the LID, the same message
   * arrives). Phones find a message only by the address that it has (see `references.ts`).
   */
  readonly isMigrated?: boolean;
}

export async function startFakeWhatsapp({
  port = 0,
  isMigrated = true,
}: FakeWhatsappOptions = {}): Promise<FakeWhatsapp> {
  silenceLibsignal();
  const connections = new Set<Connection>();
  const files = new Map<string, Buffer>();
  const { faults, state } = createFaults(connections, files);
  const counters = createCounters();
  const network: Network = {
    identity: createServerIdentity(),
    isMigrated,
    connections,
    byNumber: new Map(),
    byOtherNumber: new Map(),
    byLid: new Map(),
    groups: new Map(),
    newsletters: new Map(),
    media: await startMediaHost(files, state, counters),
    pictures: new Map(),
    faults: state,
    counters,
    authors: new Map(),
    codesShown: createLog('clients that show a code', ({ link }) => link?.code?.number ?? ''),
    watchers: new Set(),
    troubles: [],
  };
  const phones = new Map<string, Phone>();

  const http = createServer((request, response) => answerPage(network, request, response));
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  http.on('upgrade', (request, socket, head) => {
    if (state.areSocketsRefused) socket.end(`HTTP/1.1 503 ${STATUS_CODES[503]}\r\nConnection: close\r\n\r\n`);
    else sockets.handleUpgrade(request, socket, head, (webSocket) => sockets.emit('connection', webSocket));
  });
  sockets.on('connection', (socket) => {
    serveConnection(socket, network.identity, {
      delayMs: () => state.delayMs,
      onOpen: (connection) => {
        connections.add(connection);
        openSession(network, connection);
      },
      onStanza: (connection, node) => handleStanza(network, connection, node),
      onClose: (connection) => forget(network, connection),
      onTrouble: (error) => network.troubles.push(error),
    });
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));

  const url = `ws://127.0.0.1:${portOf(http)}/ws/chat`;
  const whatsapp: FakeWhatsapp = {
    url,
    mediaHost: network.media.host,
    env: { WHATSAPP_URL: url, WHATSAPP_MEDIA_HOST: network.media.host },
    ca: network.media.ca,
    trustMedia: () => trust(network.media.ca),
    rootPublicKey: network.identity.rootPublicKey,
    phone(number, name = number) {
      const known = phones.get(number);
      if (known !== undefined) return known;
      const phone = createPhone(network, number, name);
      phones.set(number, phone);
      return phone;
    },
    scan: (qr, number) => whatsapp.phone(number).scan(qr),
    migrateGroup(id) {
      const group = network.groups.get(id);
      if (group !== undefined) group.addressing = 'lid';
    },
    putFile: (content) => network.media.put(content),
    inject(number, stanza) {
      const account = requireAccount(network, number);
      for (const device of account.companions.keys()) deliver(network, { account, device }, stanza);
    },
    watchMessages(watcher) {
      network.watchers.add(watcher);
      return () => void network.watchers.delete(watcher);
    },
    faults,
    counters,
    get online() {
      return [...connections].filter(({ companion }) => companion !== undefined).length;
    },
    troubles: network.troubles,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      http.closeAllConnections();
      await Promise.all([new Promise((resolve) => http.close(resolve)), network.media.close()]);
    },
  };
  return whatsapp;
}

function forget({ connections }: Network, connection: Connection): void {
  connections.delete(connection);
  connection.link?.settle?.reject(new Error('the client went away while it was being linked'));
  if (connection.companion?.connection === connection) connection.companion.connection = undefined;
}
