import type { BinaryNode } from 'baileys';
import type { Connection } from '../connection.ts';
import { deliver, type Network } from '../network.ts';
import { childOf, stanza } from '../stanza.ts';
import { type Account, devicesOf, findAccount } from './account.ts';
import { newId, nowS } from './linking.ts';

/** Rings at all devices of an account. */
export function offerCall(network: Network, from: Account, to: Account, isVideo: boolean): string {
  const callId = newId();
  signal(network, from, to, 'offer', callId, [stanza(isVideo ? 'video' : 'audio')]);
  return callId;
}

export function endCall(network: Network, from: Account, to: Account, callId: string): void {
  signal(network, from, to, 'terminate', callId, []);
}

/** Handles the answer of a client to a call: so far, only that it rejects it. */
export function routeCall(network: Network, connection: Connection, node: BinaryNode): void {
  const { id, to } = node.attrs;
  const reject = childOf(node, 'reject');
  connection.send(stanza('ack', { class: 'call', id, from: to, type: reject && 'reject' }));
  const callId = reject?.attrs['call-id'];
  const caller = findAccount(network, reject?.attrs['call-creator']);
  if (callId !== undefined) caller?.rejections.add(callId);
}

function signal(
  network: Network,
  from: Account,
  to: Account,
  status: 'offer' | 'terminate',
  callId: string,
  content: BinaryNode[],
): void {
  const caller_pn = from.profile.hidesNumber ? undefined : from.numberJid;
  const about = { 'call-id': callId, 'call-creator': from.lidJid, caller_pn };
  const attributes = { from: from.lidJid, id: newId(), t: String(nowS()) };
  const call = stanza('call', attributes, [stanza(status, about, content)]);
  for (const device of devicesOf(to)) if (device.device !== 0) deliver(network, device, call);
}
