import type { Chat, Contact, Message, Session } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, EllipsisVertical } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Composer } from '../../components/chat/composer.tsx';
import type { Extra } from '../../components/chat/extraDialog.tsx';
import type { OutgoingMessage } from '../../components/chat/sendQueue.ts';
import { Thread } from '../../components/chat/thread.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { useAction, useRefresh } from '../../model/actions.ts';
import { useChat, useLabels } from '../../model/chats.ts';
import { displayName } from '../../model/displayName.ts';
import { useMessages } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import { chatStrings } from '../../strings/chats.ts';
import { MessageDialog, MessageMenu, type OpenedMessage } from './messageMenu.tsx';
import { RemoveChat } from './removeChat.tsx';

interface ChatPaneProps {
  readonly session: Session;
  readonly chatId: string;
  /** The chats in the list, which may not reach as far back as this one. */
  readonly listed: readonly Chat[];
  readonly nameOf: NameOf;
  readonly foundId: string | undefined;
  /** Hides messages after this time, which is that of a search result. */
  readonly upTo: string | undefined;
  readonly onBack: () => void;
  readonly onNewest: () => void;
}

/** One conversation with its composer. */
export function ChatPane({ session, chatId, listed, nameOf, foundId, upTo, onBack, onNewest }: ChatPaneProps) {
  const { sessionId, status } = session;
  const [replyingTo, setReplyingTo] = useState<Message>();
  const [opened, setOpened] = useState<OpenedMessage>();
  const refresh = useRefresh();
  const typing = useTyping(sessionId, chatId);
  const list = useMessages(sessionId, chatId, upTo === undefined ? undefined : justAfter(upTo));
  const isConnected = status === 'connected';
  const target = { sessionId, to: chatId };

  async function send({ text, media, replyTo, idempotencyKey }: OutgoingMessage) {
    const reply = { ...target, ...(replyTo !== undefined && { replyTo }) };
    if (media === undefined) await api.messages.send({ ...reply, message: text }, { idempotencyKey });
    else
      await api.messages.sendMedia({ ...reply, ...media, ...(text !== '' && { caption: text }) }, { idempotencyKey });
    typing(false);
    void refresh('messages', 'chats');
  }

  async function sendExtra({ type, ...extra }: Extra) {
    const reply = { ...target, ...(replyingTo !== undefined && { replyTo: replyingTo.messageId }) };
    if ('question' in extra) await api.messages.sendPoll({ ...reply, ...extra });
    else if ('latitude' in extra) await api.messages.sendLocation({ ...reply, ...extra });
    else await api.messages.sendContact({ ...reply, ...extra });
    setReplyingTo(undefined);
    void refresh('messages', 'chats');
  }

  return (
    <>
      <ChatHeader
        sessionId={sessionId}
        chatId={chatId}
        listed={listed}
        name={nameOf(chatId)}
        isConnected={isConnected}
        onBack={onBack}
      />
      {upTo !== undefined && (
        <p className="flex flex-wrap items-center justify-between gap-2 bg-warn-soft px-4 py-1.5 text-xs text-warn">
          {chatStrings.upTo}
          <Button size="small" onClick={onNewest}>
            {chatStrings.toNewest}
          </Button>
        </p>
      )}
      <Thread
        label={chatStrings.messages(nameOf(chatId))}
        list={list}
        isOwn={({ direction }) => direction === 'outgoing'}
        nameOf={nameOf}
        foundId={foundId}
        actions={(message) => (
          <MessageMenu
            message={message}
            isConnected={isConnected}
            onReply={() => setReplyingTo(message)}
            onOpen={setOpened}
          />
        )}
      />
      {!isConnected && (
        <p className="border-t border-line bg-warn-soft px-4 py-2 text-xs text-warn">{chatStrings.notConnected}</p>
      )}
      {upTo === undefined && (
        <Composer
          draftFor={`${sessionId}/${chatId}`}
          replyingTo={replyingTo}
          nameOf={nameOf}
          onReplyTo={setReplyingTo}
          onSend={send}
          onSendExtra={sendExtra}
          onTyping={typing}
          disabled={!isConnected}
        />
      )}
      {opened !== undefined && <MessageDialog opened={opened} nameOf={nameOf} onClose={() => setOpened(undefined)} />}
    </>
  );
}

interface ChatHeaderProps extends Pick<ChatPaneProps, 'chatId' | 'listed' | 'onBack'> {
  readonly sessionId: string;
  readonly name: string;
  readonly isConnected: boolean;
}

function ChatHeader({ sessionId, chatId, listed, name, isConnected, onBack }: ChatHeaderProps) {
  const chat = useChat(sessionId, chatId, listed);
  const contact = useContact(sessionId, chatId);
  return (
    <>
      <header className="flex min-h-15 items-center gap-2 border-b border-line px-3 py-2 wide:pl-4">
        <IconButton label={chatStrings.back} onClick={onBack} className="wide:hidden">
          <ArrowLeft />
        </IconButton>
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{name}</h2>
          {chat !== undefined && <ChatLabels chat={chat} />}
          {chat !== undefined && <ChatLinks chat={chat} />}
        </div>
        {chatId.startsWith('grp_') && (
          <LinkButton to="/groups/$groupId" params={{ groupId: chatId }} look="quiet" size="small">
            {chatStrings.openGroup}
          </LinkButton>
        )}
        {chat !== undefined && <ChatMenu chat={chat} isConnected={isConnected} contact={contact} onDeleted={onBack} />}
      </header>
      {contact?.blocked && <p className="bg-warn-soft px-4 py-2 text-xs text-warn">{chatStrings.blocked}</p>}
    </>
  );
}

function ChatLabels({ chat: { sessionId, labelIds } }: { readonly chat: Chat }) {
  const labels = useLabels(sessionId);
  // A label has no name until the network has reported it.
  const named = labelIds.flatMap((labelId) => labels.get(labelId) ?? []).filter(({ name }) => name !== '');
  if (named.length === 0) return null;
  return (
    <ul aria-label={chatStrings.labels} className="flex gap-1.5 overflow-hidden">
      {named.map(({ labelId, name }) => (
        <li key={labelId} className="truncate rounded-full bg-accent-soft px-2 text-xs text-ink-soft">
          {displayName(name)}
        </li>
      ))}
    </ul>
  );
}

/** Addresses in the metadata, such as the conversation in a help desk. */
function ChatLinks({ chat: { metadata } }: { readonly chat: Chat }) {
  const links = Object.entries(metadata).filter(([, value]) => /^https?:\/\//i.test(value));
  if (links.length === 0) return null;
  return (
    <ul aria-label={chatStrings.links} className="flex gap-3 overflow-hidden text-xs">
      {links.map(([key, url]) => (
        <li key={key} className="truncate">
          <a href={url} target="_blank" rel="noreferrer" className="text-accent underline">
            {displayName(key)}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Networks clear "is typing" after some seconds, so it is repeated while the reader types. */
const TYPING_EVERY_MS = 5000;

function useTyping(sessionId: string, chatId: string): (isTyping: boolean) => void {
  const sentAt = useRef(0);

  function sendState(isTyping: boolean) {
    const now = Date.now();
    if (isTyping ? now - sentAt.current < TYPING_EVERY_MS : sentAt.current === 0) return;
    sentAt.current = isTyping ? now : 0;
    // Best effort: a network may not support it, and the chat may be new.
    api.chats.setTyping({ sessionId, chatId, state: isTyping ? 'typing' : 'paused' }).catch(() => {});
  }

  const stop = useEffectEvent(() => sendState(false));
  useEffect(() => () => stop(), []);
  return sendState;
}

/** The contact of a direct chat, if the session knows it. */
function useContact(sessionId: string, chatId: string): Contact | undefined {
  const { data } = useQuery({
    queryKey: ['contacts', sessionId, chatId],
    queryFn: async () => (await api.contacts.list({ sessionId, phoneNumber: chatId })).data[0] ?? null,
    enabled: !chatId.startsWith('grp_'),
  });
  return data ?? undefined;
}

const MUTED_MS = 8 * 3_600_000;

function ChatMenu({
  chat,
  isConnected,
  contact,
  onDeleted,
}: {
  readonly chat: Chat;
  readonly isConnected: boolean;
  readonly contact: Contact | undefined;
  readonly onDeleted: () => void;
}) {
  const { chatId, sessionId, unreadCount, markedUnread, archived, pinned, mutedUntil } = chat;
  const [removing, setRemoving] = useState<'clear' | 'delete'>();
  const { run } = useAction('chats', 'contacts');
  const change = (more: Partial<Pick<Chat, 'archived' | 'pinned' | 'mutedUntil'>>) =>
    run(() => api.chats.update({ sessionId, chatId, ...more }));
  const isMuted = mutedUntil !== null && Date.parse(mutedUntil) > Date.now();

  return (
    <>
      {(unreadCount > 0 || markedUnread) && (
        <Button
          size="small"
          title={chatStrings.markReadHint}
          disabled={!isConnected}
          onClick={() => run(() => api.chats.markRead({ sessionId, chatId }))}
        >
          {chatStrings.markRead}
        </Button>
      )}
      <Menu
        trigger={
          <IconButton label={chatStrings.chatActions}>
            <EllipsisVertical />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => change({ pinned: !pinned })}>{pinned ? chatStrings.unpin : chatStrings.pin}</MenuItem>
        <MenuItem
          onSelect={() => change({ mutedUntil: isMuted ? null : new Date(Date.now() + MUTED_MS).toISOString() })}
        >
          {isMuted ? chatStrings.unmute : chatStrings.mute}
        </MenuItem>
        <MenuItem onSelect={() => change({ archived: !archived })}>
          {archived ? chatStrings.unarchive : chatStrings.archive}
        </MenuItem>
        {unreadCount === 0 && !markedUnread && (
          <MenuItem onSelect={() => run(() => api.chats.markUnread({ sessionId, chatId }))}>
            {chatStrings.markUnread}
          </MenuItem>
        )}
        {contact !== undefined && (
          <MenuItem
            isDangerous={!contact.blocked}
            disabled={!isConnected}
            onSelect={() =>
              run(() =>
                api.contacts.setBlocked({ sessionId, phoneNumber: contact.phoneNumber, blocked: !contact.blocked }),
              )
            }
          >
            {contact.blocked ? chatStrings.unblock : chatStrings.block}
          </MenuItem>
        )}
        <MenuLine />
        <MenuItem isDangerous onSelect={() => setRemoving('clear')}>
          {chatStrings.clear}
        </MenuItem>
        <MenuItem isDangerous onSelect={() => setRemoving('delete')}>
          {chatStrings.deleteChat}
        </MenuItem>
      </Menu>
      {removing !== undefined && (
        <RemoveChat chat={chat} what={removing} onClose={() => setRemoving(undefined)} onDeleted={onDeleted} />
      )}
    </>
  );
}

/** Lists end before a time; this one includes the message of that time. */
function justAfter(at: string): string {
  return new Date(Date.parse(at) + 1).toISOString();
}
