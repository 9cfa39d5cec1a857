import { randomBytes } from 'node:crypto';
import {
  type BinaryNode,
  decodePatches,
  encodeSyncdPatch,
  type LTHashState,
  newLTHashState,
  proto,
  type WAPatchCreate,
  type WAPatchName,
} from 'baileys';
import { createLog, type Log, type WritableLog } from '../log.ts';
import { deliver, type Network } from '../network.ts';
import { childOf, childrenOf, SERVER_JID, stanza } from '../stanza.ts';
import type { Account } from './account.ts';
import { newId, nowS } from './linking.ts';
import { type Answer, type Query, QueryError } from './queries.ts';

/** A change of the state that the devices of an account share, such as an archived chat or the owner's name. */
export interface StateChange {
  readonly collection: string;
  /** The path of the changed state: a type, then usually its subject. */
  readonly index: readonly string[];
  readonly value: proto.ISyncActionValue;
}

/** The shared state of an account: lists of changes, encrypted with a key that the phone gives to its clients. */
export interface AppState {
  readonly keyId: Buffer;
  readonly keyData: Buffer;
  readonly collections: Map<string, { hash: LTHashState; patches: Uint8Array[] }>;
  /** The changes as read by the phone. */
  readonly changes: Log<StateChange>;
}

export function createAppState(): AppState & { changes: WritableLog<StateChange> } {
  return {
    keyId: randomBytes(6),
    keyData: randomBytes(32),
    collections: new Map(),
    changes: createLog('changes of the shared state', ({ index }) => index.join(' ')),
  };
}

/** The message by which the phone gives a client the key. */
export function keyShare({ keyId, keyData }: AppState): proto.IMessage {
  const key = { keyId: { keyId }, keyData: { keyData, fingerprint: { rawId: 1, currentIndex: 0 }, timestamp: nowS() } };
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_SHARE,
      appStateSyncKeyShare: { keys: [key] },
    },
  };
}

/** Uploads changes of a client, and returns those of others. */
export async function answerStateQuery(query: Query): Promise<Answer> {
  const collections: BinaryNode[] = [];
  for (const asked of childrenOf(query.ask, 'collection')) {
    const patch = childOf(asked, 'patch');
    collections.push(patch === undefined ? changesSince(query, asked) : await applyChange(query, asked, patch));
  }
  return [stanza('sync', {}, collections)];
}

function changesSince({ account }: Query, { attrs: { name = '', version = '0' } }: BinaryNode): BinaryNode {
  const patches = account.appState.collections.get(name)?.patches ?? [];
  const missed = patches.slice(Number(version)).map((patch) => stanza('patch', {}, patch));
  const attributes = { name, version: String(patches.length), has_more_patches: 'false' };
  return stanza('collection', attributes, [stanza('patches', {}, missed)]);
}

async function applyChange(query: Query, asked: BinaryNode, patch: BinaryNode): Promise<BinaryNode> {
  const { account, network, companion } = query;
  const { name = '', version = '0' } = asked.attrs;
  const collection = account.appState.collections.get(name) ?? { hash: newLTHashState(), patches: [] };
  // A change must be based on the current version. The answer as a whole is no error.
  if (Number(version) !== collection.patches.length || network.faults.takeStateConflict(account.number))
    return stanza('collection', { name, type: 'error' }, [stanza('error', { code: '409', text: 'conflict' })]);
  const change = proto.SyncdPatch.decode(patch.content as Uint8Array);
  change.version = { version: collection.patches.length + 1 };
  const stored = proto.SyncdPatch.encode(change).finish();
  collection.hash = await readChange(account, name, change, collection.hash);
  collection.patches.push(stored);
  account.appState.collections.set(name, collection);
  notifyOthers(network, account, companion.id, name, collection.patches.length);
  return stanza('collection', { name, version: String(collection.patches.length) });
}

/** A change that the phone makes, encrypted and signed like those of clients. */
export async function changeState(network: Network, account: Account, change: WAPatchCreate): Promise<void> {
  const { appState } = account;
  const name = change.type;
  const collection = appState.collections.get(name) ?? { hash: newLTHashState(), patches: [] };
  const key = proto.Message.AppStateSyncKeyData.create({ keyData: appState.keyData });
  const before = { ...collection.hash, version: collection.patches.length };
  const { patch, state } = await encodeSyncdPatch(change, appState.keyId.toString('base64'), before, async () => key);
  patch.version = { version: state.version };
  collection.hash = state;
  collection.patches.push(proto.SyncdPatch.encode(patch).finish());
  appState.collections.set(name, collection);
  notifyOthers(network, account, undefined, name, collection.patches.length);
}

/** Decrypts a change, and verifies the checksums of all changes so far. */
async function readChange(
  { appState, profile }: Account,
  collection: string,
  change: proto.ISyncdPatch,
  before: LTHashState,
): Promise<LTHashState> {
  const key = proto.Message.AppStateSyncKeyData.create({ keyData: appState.keyData });
  const { state, mutationMap } = await decodePatches(
    collection as WAPatchName,
    [change],
    before,
    async (keyId) => (keyId === appState.keyId.toString('base64') ? key : undefined),
    {},
  );
  const changes = Object.values(mutationMap);
  if (changes.length === 0) throw new QueryError(400, 'bad-request');
  for (const { index, syncAction } of changes) {
    const value = syncAction.value ?? {};
    if (value.pushNameSetting?.name) profile.name = value.pushNameSetting.name;
    appState.changes.add({ collection, index, value });
  }
  return state;
}

/** Tells the clients of an account, except the one that has made a change, that a collection has a new version. */
function notifyOthers(
  network: Network,
  account: Account,
  except: number | undefined,
  name: string,
  version: number,
): void {
  const attributes = { from: SERVER_JID, type: 'server_sync', id: newId(), t: String(nowS()) };
  const node = stanza('notification', attributes, [stanza('collection', { name, version: String(version) })]);
  for (const device of account.companions.keys()) if (device !== except) deliver(network, { account, device }, node);
}
