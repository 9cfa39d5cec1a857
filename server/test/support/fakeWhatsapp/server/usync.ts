import { type BinaryNode, jidDecode } from 'baileys';
import type { Network } from '../network.ts';
import { childOf, childrenOf, PEOPLE, stanza, textOf } from '../stanza.ts';
import { type Account, findAccount } from './account.ts';
import { nowS } from './linking.ts';
import { isHidden } from './profiles.ts';
import type { Answer, Query } from './queries.ts';

/** Returns the requested fields of each person in a query: whether they exist, devices, LID, status. */
export function answerUsync({ network, account: asker, ask }: Query): Answer {
  const query = childOf(ask, 'query');
  const asked = Array.isArray(query?.content) ? query.content.map(({ tag }) => tag) : [];
  const users = childrenOf(childOf(ask, 'list'), 'user').map((user) => {
    const { jid, account } = personAsked(network, user);
    if (account !== undefined && asked.includes('devices')) account.watchers.add(asker);
    const facts = asked.map((name) => FACTS[name]?.(account, asker)).filter((fact) => fact !== undefined);
    return stanza('user', { jid }, facts);
  });
  const attributes = { sid: ask?.attrs['sid'], index: '0', last: 'true', mode: ask?.attrs['mode'] };
  return [stanza('usync', { ...attributes, context: ask?.attrs['context'] }, [stanza('list', {}, users)])];
}

/** A query names a person by address, or by a phone number as in an address book, and the result uses the address. */
function personAsked(network: Network, user: BinaryNode): { jid: string; account: Account | undefined } {
  const number = textOf(childOf(user, 'contact'))?.replace(/\D/g, '') ?? '';
  const asked = user.attrs['jid'] ?? `${number}@${PEOPLE}`;
  const jid = network.byOtherNumber.get(jidDecode(asked)?.user ?? '')?.numberJid ?? asked;
  return { jid, account: findAccount(network, jid) };
}

type Fact = (account: Account | undefined, asker: Account) => BinaryNode | undefined;

const FACTS: Readonly<Record<string, Fact>> = {
  contact: (account) => stanza('contact', { type: account ? 'in' : 'out' }),
  lid: (account) => account && stanza('lid', { val: account.lidJid }),
  devices: (account) => account && stanza('devices', {}, [stanza('device-list', { hash: 'tst' }, deviceList(account))]),
  disappearing_mode: (account) =>
    account &&
    stanza('disappearing_mode', { duration: account.privacy.get('disappearing_mode') ?? '0', t: String(nowS()) }),
  status: (account, asker) => {
    if (account === undefined) return undefined;
    if (isHidden(account, 'status', asker)) return stanza('status', { code: '401', type: 'fail' });
    return stanza('status', { t: String(nowS()) }, Buffer.from(account.profile.about));
  },
};

function deviceList({ companions, deregistered }: Account): BinaryNode[] {
  const linked = [...companions.keys(), ...deregistered].map((id) =>
    stanza('device', { id: String(id), 'key-index': String(id) }),
  );
  return [stanza('device', { id: '0' }), ...linked];
}
