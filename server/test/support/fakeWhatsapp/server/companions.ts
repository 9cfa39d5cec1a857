import type { BinaryNode } from 'baileys';
import { deliver, type Network } from '../network.ts';
import { stanza } from '../stanza.ts';
import { type Account, type Companion, lidJidOf, numberJidOf } from './account.ts';
import { newId, nowS } from './linking.ts';

/** Removes a client from its account, and notifies it if it is online. */
export function unlink(network: Network, companion: Companion): void {
  const { account, id, connection } = companion;
  account.companions.delete(id);
  connection?.end(stanza('stream:error', { code: '401' }, [stanza('conflict', { type: 'device_removed' })]));
  notifyOfDevices(network, account, stanza('remove', {}, [deviceStanza(companion)]));
}

/** Reports that a client has been linked. */
export function announceDevice(network: Network, companion: Companion): void {
  notifyOfDevices(network, companion.account, stanza('add', {}, [deviceStanza(companion)]), companion.id);
}

/**
 * Reports that the phone of an account has new keys (WhiskeySockets/Baileys#2704, and `handleIdentityChange` in
 * 7.0.0-rc14; whatsmeow deletes all sessions with the person).
 */
export function announceIdentity(network: Network, account: Account): string {
  const id = newId();
  const from = account.profile.hidesNumber ? account.lidJid : account.numberJid;
  for (const watcher of account.watchers) {
    if (watcher === account) continue;
    for (const device of watcher.companions.keys()) {
      const attributes = { from, type: 'encrypt', id, t: String(nowS()) };
      deliver(network, { account: watcher, device }, stanza('notification', attributes, [stanza('identity')]));
    }
  }
  return id;
}

/**
 * Reports that a person has another number (`handleContactModify` of the Android app, `WAWebHandleContactNotification`
 * of WhatsApp Web, whatsapp-rust#351): to those who know the former one. The LIDs are optional there.
 */
export function announceNumber(network: Network, former: Account, current: Account, change: NumberChange): void {
  const lids = change.hasLids === false ? {} : { old_lid: former.lidJid, new_lid: current.lidJid };
  const modify = stanza('modify', { old: former.numberJid, new: current.numberJid, ...lids });
  for (const watcher of former.watchers) {
    if (watcher === former) continue;
    for (const device of watcher.companions.keys()) {
      const attributes = { from: former.numberJid, type: 'contacts', id: newId(), t: String(change.atS ?? nowS()) };
      deliver(network, { account: watcher, device }, stanza('notification', attributes, [modify]));
    }
  }
}

export interface NumberChange {
  readonly hasLids?: boolean;
  readonly atS?: number;
}

/** Reports a device without keys on the server: others encrypt for it until they learn that it is gone. */
export function announceDeregistered(network: Network, account: Account): void {
  const id = account.nextDeviceId++;
  account.deregistered.add(id);
  notifyOfDevices(network, account, stanza('add', {}, [deviceStanza({ account, id })]));
}

/** By number, because the client keys its device lists by the address type of its query, usually this one. */
function deviceStanza({ account, id }: Pick<Companion, 'account' | 'id'>): BinaryNode {
  const device = { account, device: id };
  const jid = account.profile.hidesNumber ? lidJidOf(device) : numberJidOf(device);
  return stanza('device', { jid, lid: lidJidOf(device), 'key-index': String(id) });
}

/** Clients cache the device lists of others. Without a notification they would not encrypt for a new device. */
function notifyOfDevices(network: Network, account: Account, change: BinaryNode, except?: number): void {
  for (const watcher of new Set([account, ...account.watchers])) {
    for (const device of watcher.companions.keys()) {
      if (watcher === account && device === except) continue;
      const from = account.profile.hidesNumber ? account.lidJid : account.numberJid;
      const attributes = { from, lid: account.lidJid, type: 'devices', id: newId(), t: String(nowS()) };
      deliver(network, { account: watcher, device }, stanza('notification', attributes, [change]));
    }
  }
}
