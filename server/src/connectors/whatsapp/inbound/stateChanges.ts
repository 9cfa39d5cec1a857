import type { BinaryNode, Chat, proto, SignalDataTypeMap, WAMessageKey, WASocket } from 'baileys';
import { KeyedQueue } from '../../../async.ts';
import type { ChatEvent } from '../../contract/chatActions.ts';
import type { NetworkEvent } from '../../contract/events.ts';
import type { NetworkChat } from '../../contract/messageKey.ts';
import { toOwnId } from '../outbound/messageIds.ts';
import type { Addresses } from '../people/addresses.ts';
import type { Session } from '../session.ts';

/** The collection of deletions. */
const DELETIONS = 'regular_high';

/** Reports what other devices of the account do with chats, messages and labels, besides `Activity`. */
export class StateChanges {
  readonly #session: Session;
  readonly #addresses: Addresses;
  readonly #queue = new KeyedQueue();

  constructor(session: Session, addresses: Addresses) {
    this.#session = session;
    this.#addresses = addresses;
    session.link.on('socket', (socket) => this.#watch(socket));
  }

  #watch(socket: WASocket): void {
    const { ev, ws } = socket;
    ev.on('chats.update', (chats) => {
      for (const chat of chats) this.#inOrder(() => this.#chat(chat));
    });
    ev.on('messages.update', (updates) => {
      for (const { key, update } of updates)
        if (typeof update.starred === 'boolean') this.#inOrder(() => this.#starred(key, update.starred === true));
    });
    ev.on('messages.delete', (deleted) => {
      if ('keys' in deleted) for (const key of deleted.keys) this.#inOrder(() => this.#deletedForMe(key));
    });
    ev.on('labels.edit', ({ id: networkId, name, color, deleted }) =>
      this.#inOrder(() =>
        this.#report(
          deleted
            ? { type: 'label_removed', networkId }
            : { type: 'label_updated', label: { networkId, name: name ?? '', color: colorOf(color) } },
        ),
      ),
    );
    ev.on('labels.association', ({ association, type }) =>
      this.#inOrder(async () => {
        const { labelId, chatId } = association;
        const chat = await this.#chatOf(chatId);
        if (chat === undefined) return;
        const isSet = type === 'add';
        if (!('messageId' in association)) return this.#report({ type: 'label_assigned', labelId, chat, isSet });
        // The id does not say whose message it is. Ours have another form.
        for (const message of new Set([association.messageId, toOwnId(association.messageId)]))
          await this.#report({ type: 'label_assigned', labelId, chat, message, isSet });
      }),
    );
    // Baileys reports deleted chats without saying up to when, and cleared ones not at all.
    ws.on('CB:iq,,sync', (node: BinaryNode) => this.#inOrder(() => this.#deletions(socket, node)));
  }

  #inOrder(work: () => Promise<void>): void {
    this.#queue
      .run('', work)
      .catch((error) => this.#session.host.log.warn({ err: error }, 'failed to report a change of the shared state'));
  }

  #report(event: NetworkEvent): Promise<void> {
    return this.#session.reporter.report(event);
  }

  /** Undefined for what has no chat here, such as stories and channels. */
  async #chatOf(jid: string | null | undefined): Promise<NetworkChat | undefined> {
    const { baileys } = this.#session;
    if (!jid || (!baileys.isJidGroup(jid) && !baileys.isPnUser(jid) && !baileys.isLidUser(jid))) return undefined;
    return this.#addresses.chatOf(jid);
  }

  /** The network counts −1 unread messages in a chat that is marked as unread. */
  async #chat({ id, unreadCount }: Partial<Chat>): Promise<void> {
    if (unreadCount !== -1 && unreadCount !== 0) return;
    const chat = await this.#chatOf(id);
    if (chat !== undefined) await this.#report({ type: 'chat_updated', chat, markedUnread: unreadCount === -1 });
  }

  async #starred(key: WAMessageKey, isStarred: boolean): Promise<void> {
    const chat = await this.#chatOf(key.remoteJid);
    if (chat !== undefined) await this.#report({ type: 'message_starred', networkId: idOf(key), chat, isStarred });
  }

  async #deletedForMe(key: WAMessageKey): Promise<void> {
    const chat = await this.#chatOf(key.remoteJid);
    if (chat !== undefined) await this.#report({ type: 'message_removed', networkId: idOf(key), chat });
  }

  /** Reads the changes that the server returns, which Baileys decrypts once more. */
  async #deletions(socket: WASocket, node: BinaryNode): Promise<void> {
    const { baileys } = this.#session;
    const sync = baileys.getBinaryNodeChild(node, 'sync');
    for (const collection of baileys.getBinaryNodeChildren(sync, 'collection')) {
      if (collection.attrs['name'] !== DELETIONS) continue;
      const patches = baileys.getBinaryNodeChild(collection, 'patches');
      for (const { content } of baileys.getBinaryNodeChildren(patches, 'patch'))
        if (content instanceof Uint8Array)
          for (const event of await this.#deletionsIn(socket, content)) await this.#report(event);
    }
  }

  async #deletionsIn(socket: WASocket, patch: Uint8Array): Promise<ChatEvent[]> {
    const { baileys } = this.#session;
    const found: (readonly [action: proto.ISyncActionValue, index: readonly string[]])[] = [];
    const { mutations } = baileys.proto.SyncdPatch.decode(patch);
    // Without its key, a change is skipped: the server returns it again once the phone has shared the key.
    await baileys
      .decodeSyncdMutations(
        mutations,
        baileys.newLTHashState(),
        (keyId) => keyOf(socket, keyId),
        ({ syncAction, index }) => void (syncAction.value && found.push([syncAction.value, index])),
        true,
      )
      .catch((error) => this.#session.host.log.debug({ err: error }, 'failed to read changes of the shared state'));
    const events: ChatEvent[] = [];
    for (const [{ deleteChatAction, clearChatAction, timestamp }, [, jid, deletesStarred]] of found) {
      const action = deleteChatAction ?? clearChatAction;
      const chat = action && (await this.#chatOf(jid));
      if (!chat) continue;
      const upTo = endOf(action.messageRange) ?? Number(timestamp ?? 0);
      const keepsStarred = clearChatAction != null && deletesStarred === '0';
      events.push({ type: 'chat_removed', chat, isWhole: deleteChatAction != null, upTo, keepsStarred });
    }
    return events;
  }
}

/** The last moment of the last second of a range, in ms; undefined if it has no end. */
function endOf(range: proto.SyncActionValue.ISyncActionMessageRange | null | undefined): number | undefined {
  const seconds = Number(range?.lastMessageTimestamp ?? 0) || Number(range?.lastSystemMessageTimestamp ?? 0);
  return seconds > 0 ? (seconds + 1) * 1000 - 1 : undefined;
}

async function keyOf(
  { authState }: WASocket,
  keyId: string,
): Promise<SignalDataTypeMap['app-state-sync-key'] | undefined> {
  return (await authState.keys.get('app-state-sync-key', [keyId]))[keyId];
}

/** A message that the session sent is known by our id. */
const idOf = ({ id, fromMe }: WAMessageKey): string => (fromMe === true ? toOwnId(id ?? '') : (id ?? ''));

const colorOf = (color: number | null | undefined): number => (Number.isSafeInteger(color) ? Number(color) : 0);
