import type { proto } from 'baileys';
import type { Connection } from '../connection.ts';
import { encryptTo } from '../encryption/envelope.ts';
import { deliver, type Network } from '../network.ts';
import { SERVER_JID, stanza } from '../stanza.ts';
import { type Companion, type DeviceAddress, lidJidOf } from './account.ts';
import { streamEnd } from './faults.ts';
import { newId, nowS, offerLink } from './linking.ts';

/** Handles a client after the handshake: it starts linking, logs in, or is refused. */
export function openSession(network: Network, connection: Connection): void {
  const { payload } = connection;
  network.counters.connections++;
  const companion = findCompanion(network, connection);
  const refusal = refusalOf(network, payload, companion);
  if (refusal !== undefined) refuse(network, connection, refusal, network.faults.banLeftS(String(payload.username)));
  else if (companion === undefined) offerLink(connection);
  else logIn(network, connection, companion);
}

function findCompanion({ byNumber }: Network, { payload, clientKey }: Connection): Companion | undefined {
  const companion = byNumber.get(String(payload.username))?.companions.get(payload.device ?? 0);
  return companion && Buffer.from(companion.clientKey).equals(clientKey) ? companion : undefined;
}

function refusalOf({ faults }: Network, payload: proto.ClientPayload, companion: Companion | undefined) {
  if (isTooOld(payload, faults.minimumVersion)) return 405;
  if (payload.devicePairingData?.eIdent) return undefined;
  const number = String(payload.username);
  if (faults.banLeftS(number) > 0) return 402;
  return faults.takeRefusal(number) ?? (companion === undefined ? 401 : undefined);
}

function logIn({ counters }: Network, connection: Connection, companion: Companion): void {
  // A device has one connection, so an older one is replaced.
  companion.connection?.end(streamEnd('replaced'));
  companion.connection = connection;
  connection.companion = companion;
  counters.logins++;
  connection.send(
    stanza('success', {
      t: String(nowS()),
      lid: lidJidOf({ account: companion.account, device: companion.id }),
      creation: String(nowS()),
      location: 'tst',
      props: '1',
    }),
  );
  connection.send(
    stanza('ib', { from: SERVER_JID }, [stanza('edge_routing', {}, [stanza('routing_info', {}, Buffer.from('tst'))])]),
  );
}

function refuse({ counters }: Network, connection: Connection, reason: number, banLeftS: number): void {
  counters.refusedLogins++;
  const expire = banLeftS > 0 ? String(banLeftS) : undefined;
  connection.end(stanza('failure', { reason: String(reason), location: 'tst', expire }));
}

function isTooOld(payload: proto.ClientPayload, minimum: readonly number[] | undefined): boolean {
  if (minimum === undefined) return false;
  const { primary, secondary, tertiary } = payload.userAgent?.appVersion ?? {};
  const version = [primary ?? 0, secondary ?? 0, tertiary ?? 0];
  const differing = version.findIndex((part, index) => part !== minimum[index]);
  return differing >= 0 && (version[differing] ?? 0) < (minimum[differing] ?? 0);
}

/** Handles a client that is ready for offline stanzas: it is told their number, then requests them. */
export function announcePending(connection: Connection, companion: Companion): void {
  if (companion.pending.size === 0) {
    sendPending(connection, companion);
    return;
  }
  const count = (tag: string) => String([...companion.pending.values()].filter((node) => node.tag === tag).length);
  connection.send(
    stanza('ib', { from: SERVER_JID }, [
      stanza('offline_preview', {
        count: String(companion.pending.size),
        message: count('message'),
        receipt: count('receipt'),
        notification: count('notification'),
        appdata: '0',
      }),
    ]),
  );
}

/** Sends all pending stanzas marked as offline, then the end marker. */
export function sendPending(connection: Connection, companion: Companion): void {
  if (connection.isActive) return;
  const waiting = [...companion.pending.values()];
  waiting.forEach((node, index) => {
    connection.send({ ...node, attrs: { ...node.attrs, offline: String(index) } });
  });
  connection.send(stanza('ib', { from: SERVER_JID }, [stanza('offline', { count: String(waiting.length) })]));
  connection.isActive = true;
}

/** A message from a phone to a client of its own account, outside of any chat. */
export async function sendToOwn(network: Network, to: DeviceAddress, message: proto.IMessage): Promise<void> {
  const encrypted = await encryptTo(to.account, to, message);
  const attributes = { from: to.account.lidJid, id: newId(), t: String(nowS()), type: 'text', category: 'peer' };
  deliver(network, to, stanza('message', attributes, [encrypted]));
}
