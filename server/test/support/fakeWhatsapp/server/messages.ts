import type { BinaryNode } from 'baileys';
import { isGroup } from '../encryption/envelope.ts';
import { deliver, type Network, rememberAuthor } from '../network.ts';
import { childOf, childrenOf, STATUS, stanza } from '../stanza.ts';
import {
  type Account,
  type DeviceAddress,
  devicesOf,
  findAccount,
  findDevice,
  hostedJidOf,
  lidJidOf,
  numberJidOf,
} from './account.ts';
import { routeStatus } from './broadcast.ts';
import { addressingMode, memberNames } from './groups.ts';
import { nowS } from './linking.ts';
import { routePost } from './newsletters.ts';

/** Attributes of a client's stanza that are passed to the recipients. */
const PASSED_ON = ['id', 't', 'type', 'edit', 'category', 'expiration'] as const;

/** The error code in the acknowledgement of a rejected message. */
export type MessageError = 403 | 404 | 463 | 479 | undefined;

/**
 * Accepts a message of a device and delivers its part to each device. The author encrypts for every device, so the
 * server cannot read it.
 */
export function routeMessage(network: Network, author: DeviceAddress, node: BinaryNode): MessageError {
  const { to = '', id = '' } = node.attrs;
  rememberAuthor(network, id, author);
  if (to === STATUS && childOf(node, 'participants') !== undefined) {
    return routeStatus(network, author, node);
  }
  if (to.endsWith('@newsletter')) return routePost(network, author, node);
  if (isGroup(to)) return routeToGroup(network, author, node);
  if (network.isMigrated && isClient(author) && !isLid(to) && isOther(network, author, to)) return 463;
  const envelopes = childrenOf(childOf(node, 'participants'), 'to').map(
    (part) => [part.attrs['jid'], childrenOf(part, 'enc').concat(childrenOf(part, 'unavailable'))] as const,
  );
  // Without a device list it is for one: a retry, or from a client to its own phone.
  if (envelopes.length === 0) envelopes.push([to, childrenOf(node, 'enc')]);
  for (const [jid, parts] of envelopes) {
    const target = findDevice(network, jid);
    if (target === undefined || isBlocked(target.account, author.account)) continue;
    const attributes =
      target.account === author.account
        ? toOwnDevice(network, author, node.attrs['recipient'] ?? to)
        : toOther(author, to);
    deliver(network, target, messageStanza(node, { ...attributes, notify: author.account.profile.name }, parts));
  }
  return undefined;
}

function routeToGroup(network: Network, author: DeviceAddress, node: BinaryNode): MessageError {
  const { to = '', participant } = node.attrs;
  const group = network.groups.get(to);
  const role = group?.members.get(author.account);
  if (group === undefined) return 404;
  // All members may react in the announcement group of a community (whatsmeow #509).
  const mayReact = group.place.isAnnouncementGroup && node.attrs['type'] === 'reaction';
  if (role === undefined || (group.isAnnounceOnly && role === 'member' && !mayReact)) return 403;
  const forAll = childrenOf(node, 'enc');
  const own = new Map(
    childrenOf(childOf(node, 'participants'), 'to').map((part) => [
      findDeviceKey(network, part.attrs['jid']),
      childrenOf(part, 'enc'),
    ]),
  );
  const names = memberNames(group, author);
  const attributes = {
    from: to,
    participant: names.jid,
    participant_lid: names.lid,
    participant_pn: names.number,
    addressing_mode: addressingMode(group),
    notify: author.account.profile.name,
  };
  // A retry is for the device that requested it.
  const again = participant === undefined ? undefined : findDevice(network, participant);
  const targets = again ? [again] : [...group.members.keys()].flatMap(devicesOf);
  for (const target of targets) {
    if (target.account === author.account && target.device === author.device) continue;
    const parts = [...(own.get(lidJidOf(target)) ?? []), ...forAll];
    deliver(network, target, messageStanza(node, attributes, parts));
  }
  return undefined;
}

function messageStanza(
  node: BinaryNode,
  attributes: Readonly<Record<string, string | undefined>>,
  parts: BinaryNode[],
): BinaryNode {
  const passedOn = Object.fromEntries(
    PASSED_ON.flatMap((name) => (name in node.attrs ? [[name, node.attrs[name]]] : [])),
  );
  return stanza('message', { t: String(nowS()), ...passedOn, ...attributes }, parts);
}

/** The author is addressed in the same way as the chat, with the alternative address beside it. */
function toOther(author: DeviceAddress, to: string): Record<string, string | undefined> {
  const { account } = author;
  if (to.endsWith('@hosted.lid')) return { from: hostedJidOf(account.lid), sender_pn: account.numberJid };
  if (to.endsWith('@lid') || account.profile.hidesNumber)
    return { from: lidJidOf(author), sender_pn: account.profile.hidesNumber ? undefined : account.numberJid };
  return { from: numberJidOf(author), sender_lid: account.lidJid };
}

/** A copy for the author's own devices names the chat, with both addresses of that person. */
function toOwnDevice(network: Network, author: DeviceAddress, chat: string): Record<string, string | undefined> {
  const other = findAccount(network, chat);
  if (!chat.endsWith('@lid')) return { from: numberJidOf(author), recipient: chat, peer_recipient_lid: other?.lidJid };
  const shown = other?.profile.hidesNumber === true ? undefined : other?.numberJid;
  return { from: lidJidOf(author), recipient: chat, peer_recipient_pn: shown };
}

function findDeviceKey(network: Network, jid: string | undefined): string | undefined {
  const device = findDevice(network, jid);
  return device && lidJidOf(device);
}

const isClient = ({ device }: DeviceAddress) => device !== 0;

const isOther = (network: Network, { account }: DeviceAddress, to: string) =>
  ![undefined, account].includes(findAccount(network, to));

const isLid = (address: string) => /@(hosted\.)?lid$/.test(address);

export const isBlocked = (by: Account, who: Account): boolean => by.blocked.has(who);
