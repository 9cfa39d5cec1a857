import { type BinaryNode, jidDecode } from 'baileys';
import { deliver, type Network } from '../network.ts';
import { type Companion, findAccount, findDevice, takeBundle } from '../server/account.ts';
import { newId, nowS } from '../server/linking.ts';
import { type Answer, type Query, QueryError } from '../server/queries.ts';
import { childOf, childrenOf, SERVER_JID, stanza } from '../stanza.ts';
import { bundleStanza, readPreKeys, readSignedPreKey, typedKey } from './keyBundle.ts';
import { isSignedBy } from './signatures.ts';

/** Below this number of one-time keys, a client is told to upload more. */
const FEW_KEYS = 5;

/** The store of public keys, to which clients upload theirs and from which they fetch those of others. */
export async function answerKeyQuery(query: Query): Promise<Answer> {
  const { companion, ask, iq } = query;
  if (iq.attrs['type'] === 'get') {
    if (ask?.tag === 'count') return [stanza('count', { value: String(companion.preKeys.length) })];
    if (ask?.tag === 'digest') return [stanza('digest', {}, [])];
    return [stanza('list', {}, await takeBundles(query))];
  }
  const signed = childOf(ask?.tag === 'rotate' ? ask : iq, 'skey');
  if (signed !== undefined) {
    const key = readSignedPreKey(signed);
    if (!isSignedBy(companion.identity, typedKey(key.publicKey), key.signature))
      throw new QueryError(406, 'the signed pre-key is not signed by the identity');
    companion.signedPreKey = key;
  }
  companion.preKeys.push(...readPreKeys(childOf(iq, 'list')));
  return undefined;
}

/** One device without keys fails the query for all (WhiskeySockets/Baileys#2521, adiwajshing/Baileys#955). */
async function takeBundles({ network, ask }: Query): Promise<BinaryNode[]> {
  const bundles: BinaryNode[] = [];
  for (const { attrs } of ask === undefined ? [] : childrenOf(ask, 'user')) {
    const { jid = '' } = attrs;
    if (findAccount(network, jid)?.deregistered.has(jidDecode(jid)?.device ?? 0))
      throw new QueryError(406, 'not-acceptable');
    const device = findDevice(network, jid);
    if (device === undefined) continue;
    const owner = device.account.companions.get(device.device);
    const hadEnough = (owner?.preKeys.length ?? 0) >= FEW_KEYS;
    const bundle = await takeBundle(device);
    if (bundle === undefined) continue;
    bundles.push(bundleStanza(jid, bundle));
    if (owner !== undefined && hadEnough && owner.preKeys.length < FEW_KEYS) askForKeys(network, owner);
  }
  return bundles;
}

function askForKeys(network: Network, { account, id, preKeys }: Companion): void {
  const attributes = { from: SERVER_JID, type: 'encrypt', id: newId(), t: String(nowS()) };
  const count = stanza('count', { value: String(preKeys.length) });
  deliver(network, { account, device: id }, stanza('notification', attributes, [count]));
}
