import { isGroup } from '../encryption/envelope.ts';
import { deliver, type Network } from '../network.ts';
import { childrenOf, stanza, textOf } from '../stanza.ts';
import { type Account, devicesOf, findAccount } from './account.ts';
import { newId, nowS } from './linking.ts';
import { type Answer, type Query, QueryError } from './queries.ts';

/** The part of a profile that is public by default. */
const PRIVACY_NAMES = ['readreceipts', 'last', 'online', 'profile', 'status', 'groupadd', 'calladd'];

/** Pictures of people and groups. */
export function answerPictureQuery({ network, account, iq, ask }: Query): Answer {
  const { pictures } = network;
  const owner = iq.attrs['target'] ?? account.numberJid;
  const key = findAccount(network, owner)?.number ?? owner;
  if (iq.attrs['type'] === 'get') {
    const path = pictures.get(key);
    if (isHidden(findAccount(network, owner), 'profile', account)) throw new QueryError(401, 'not-authorized');
    if (path === undefined) throw new QueryError(404, 'item-not-found');
    const url = `https://${network.media.host}${path}`;
    return [stanza('picture', { id: path.slice(3), type: ask?.attrs['type'], url, direct_path: path })];
  }
  if (ask === undefined) {
    setPicture(network, account, key, undefined);
    return undefined;
  }
  if (!(ask.content instanceof Uint8Array) || !isJpeg(ask.content)) throw new QueryError(406, 'not-acceptable');
  setPicture(network, account, key, Buffer.from(ask.content));
  return [stanza('picture', { id: pictures.get(key)?.slice(3) })];
}

/** Accepts a picture if it starts like a JPEG. */
const isJpeg = (content: Uint8Array) =>
  Buffer.from(content)
    .subarray(0, 3)
    .equals(Buffer.from([0xff, 0xd8, 0xff]));

/** Whether a person hides this from everybody. Other settings, such as `contacts`, are not implemented. */
export function isHidden(owner: Account | undefined, what: 'profile' | 'status', asker: Account): boolean {
  return owner !== undefined && owner !== asker && owner.privacy.get(what) === 'none';
}

/**
 * Sets the picture of a person, by number, or of a group, by id. Notifies members of the group, or contacts of the
 * person.
 */
export function setPicture(network: Network, by: Account, key: string, content: Buffer | undefined): void {
  const path = content && network.media.put(content);
  if (path === undefined) network.pictures.delete(key);
  else network.pictures.set(key, path);
  const change = stanza(path === undefined ? 'delete' : 'set', { id: path?.slice(3), author: by.lidJid });
  const attributes = { from: isGroup(key) ? key : by.lidJid, type: 'picture', id: newId(), t: String(nowS()) };
  const recipients = isGroup(key) ? (network.groups.get(key)?.members.keys() ?? []) : by.watchers;
  for (const device of [...recipients].flatMap(devicesOf))
    deliver(network, device, stanza('notification', attributes, [change]));
}

/** The about text of a profile. */
export function answerStatusQuery({ account, ask }: Query): Answer {
  account.profile.about = textOf(ask) ?? '';
  return undefined;
}

/** A block with none of these attributes is a bad request (oxidezap/whatsapp-rust#600, vinikjkkj/zapo#208). */
const IDENTIFIERS = ['pn_jid', 'username', 'display_name', 'unknown_identifier'];

export function answerBlocklistQuery({ network, account, iq, ask }: Query): Answer {
  if (iq.attrs['type'] === 'set' && ask !== undefined) {
    const other = findAccount(network, ask.attrs['jid']);
    const isBlock = ask.attrs['action'] === 'block';
    const isIdentified = !isBlock || IDENTIFIERS.some((name) => ask.attrs[name] !== undefined);
    if (other === undefined || other.lidJid !== ask.attrs['jid'] || !isIdentified)
      throw new QueryError(400, 'bad-request');
    if (isBlock) account.blocked.add(other);
    else account.blocked.delete(other);
  }
  const items = [...account.blocked].map(({ lidJid }) => stanza('item', { jid: lidJid }));
  return [stanza('list', {}, items)];
}

/** Privacy settings. Tokens for contacts who have written before are accepted but not stored. */
export function answerPrivacyQuery({ account, iq, ask }: Query): Answer {
  if (ask?.tag === 'tokens') return undefined;
  if (iq.attrs['type'] === 'set') {
    for (const { attrs } of childrenOf(ask, 'category')) account.privacy.set(attrs['name'] ?? '', attrs['value'] ?? '');
    return undefined;
  }
  const categories = PRIVACY_NAMES.map((name) =>
    stanza('category', { name, value: account.privacy.get(name) ?? 'all' }),
  );
  return [stanza('privacy', {}, categories)];
}

/** The timer of new chats. */
export function answerTimerQuery({ account, ask }: Query): Answer {
  account.privacy.set('disappearing_mode', ask?.attrs['duration'] ?? '0');
  return undefined;
}
