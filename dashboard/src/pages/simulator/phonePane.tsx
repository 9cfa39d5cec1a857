import type { Message, Session } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, EllipsisVertical } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api } from '../../api.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Composer } from '../../components/chat/composer.tsx';
import { EditForm } from '../../components/chat/editForm.tsx';
import type { Extra } from '../../components/chat/extraDialog.tsx';
import type { OutgoingMessage } from '../../components/chat/sendQueue.ts';
import { Thread } from '../../components/chat/thread.tsx';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { plainName } from '../../model/displayName.ts';
import { useMessages } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import { sessionName } from '../../model/sessions.ts';
import { chatStrings, emojis, messageStrings } from '../../strings/chats.ts';
import { type Action, useSimulate, useSimulateAction } from './simulate.ts';
import { simulatorStrings } from './strings.ts';

interface PhonePaneProps {
  readonly session: Session;
  /** The number whose phone this is, or a group of which it is a member. */
  readonly chatId: string;
  readonly nameOf: NameOf;
  readonly onBack: () => void;
}

/** The phone of somebody who talks to the session. */
export function PhonePane({ session, chatId, nameOf, onBack }: PhonePaneProps) {
  const { sessionId, status } = session;
  const [replyingTo, setReplyingTo] = useState<Message>();
  const [edited, setEdited] = useState<Message>();
  const { isGroup, members, player, setMember } = usePlayer(session, chatId);
  const list = useMessages(sessionId, chatId);
  const simulate = useSimulate(sessionId);

  /** Writes as the player. */
  function write(content: Partial<Action>, replyTo = replyingTo?.messageId): Promise<void> {
    return simulate({
      action: 'incoming',
      ...(player !== undefined && { from: player }),
      ...(isGroup && { groupId: chatId }),
      ...(replyTo !== undefined && { messageId: replyTo }),
      ...content,
    });
  }

  const send = ({ text, media, replyTo }: OutgoingMessage) =>
    write({ ...(text !== '' && { message: text }), ...media }, replyTo);

  async function writeExtra({ type, ...extra }: Extra) {
    if ('question' in extra) {
      const { question, ...poll } = extra;
      await write({ message: question, poll });
    } else if ('latitude' in extra) await write({ location: extra });
    else await write({ contact: extra });
    setReplyingTo(undefined);
  }

  return (
    <>
      <PhoneHeader session={session} name={nameOf(chatId)} isGroup={isGroup} onBack={onBack}>
        {isGroup && player !== undefined && (
          <MemberSelect members={members} player={player} nameOf={nameOf} onChoose={setMember} />
        )}
        <ReadButton sessionId={sessionId} messages={list.messages.filter(isUnread)} />
        {isGroup && player !== undefined && (
          <GroupMenu sessionId={sessionId} groupId={chatId} name={nameOf(chatId)} player={player} />
        )}
      </PhoneHeader>
      <Thread
        label={chatStrings.messages(nameOf(chatId))}
        list={list}
        isOwn={({ direction, from }) => direction === 'incoming' && from === player}
        nameOf={nameOf}
        actions={(message) =>
          player === undefined || message.deleted ? undefined : (
            <PhoneMenu
              sessionId={sessionId}
              message={message}
              from={player}
              onReply={() => setReplyingTo(message)}
              onEdit={() => setEdited(message)}
            />
          )
        }
      />
      <Composer
        draftFor={`simulator:${sessionId}/${chatId}`}
        replyingTo={replyingTo}
        nameOf={nameOf}
        onReplyTo={setReplyingTo}
        disabled={status !== 'connected' || player === undefined}
        onSend={send}
        onSendExtra={writeExtra}
      />
      {/* Not in the menu of the message, whose row unmounts as the thread scrolls. */}
      <Dialog title={messageStrings.editTitle} open={edited !== undefined} onOpenChange={() => setEdited(undefined)}>
        <EditForm
          text={edited?.message ?? ''}
          onCancel={() => setEdited(undefined)}
          onSave={async (message) => {
            if (edited !== undefined) await simulate({ action: 'edit', messageId: edited.messageId, message });
            setEdited(undefined);
          }}
        />
      </Dialog>
    </>
  );
}

/** The number that the reader plays: that of the chat, or a chosen member of the group. */
function usePlayer(session: Session, chatId: string) {
  const [chosen, setMember] = useState<string>();
  const isGroup = chatId.startsWith('grp_');
  const group = useQuery({
    queryKey: ['groups', chatId],
    queryFn: () => api.groups.get({ groupId: chatId }),
    enabled: isGroup,
  });
  const numbers = group.data?.participants.map(({ phoneNumber }) => phoneNumber) ?? [];
  const members = numbers.filter((number) => number !== session.phoneNumber);
  const member = members.find((number) => number === chosen) ?? members[0];
  return { isGroup, members, player: isGroup ? member : chatId, setMember };
}

const isUnread = ({ direction, status }: Message) =>
  direction === 'outgoing' && (status === 'sent' || status === 'delivered');

interface PhoneHeaderProps {
  readonly session: Session;
  readonly name: string;
  readonly isGroup: boolean;
  readonly onBack: () => void;
  readonly children: ReactNode;
}

function PhoneHeader({ session, name, isGroup, onBack, children }: PhoneHeaderProps) {
  return (
    <header className="flex min-h-15 flex-wrap items-center gap-2 border-b border-line px-3 py-2 wide:pl-4">
      <IconButton label={chatStrings.back} onClick={onBack} className="wide:hidden">
        <ArrowLeft />
      </IconButton>
      <div className="min-w-0 flex-1">
        <h2 className="truncate font-semibold">{isGroup ? name : simulatorStrings.phoneOf(name)}</h2>
        <p className="truncate text-xs text-ink-faint">{simulatorStrings.talksTo(sessionName(session))}</p>
      </div>
      {children}
    </header>
  );
}

interface MemberSelectProps {
  readonly members: readonly string[];
  readonly player: string;
  readonly nameOf: NameOf;
  readonly onChoose: (number: string) => void;
}

function MemberSelect({ members, player, nameOf, onChoose }: MemberSelectProps) {
  return (
    <label className="flex items-center gap-2 text-xs text-ink-faint">
      {simulatorStrings.youAre}
      <select
        value={player}
        onChange={(event) => onChoose(event.currentTarget.value)}
        className="h-8 rounded-lg border border-line-strong bg-surface px-2 text-sm text-ink"
      >
        {members.map((number) => (
          <option key={number} value={number}>
            {nameOf(number)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Sends read receipts for all messages that are unread on this phone. */
function ReadButton({ sessionId, messages }: { readonly sessionId: string; readonly messages: readonly Message[] }) {
  const { run, isPending } = useSimulateAction(sessionId);
  if (messages.length === 0) return null;
  return (
    <Button
      size="small"
      title={simulatorStrings.readHint}
      busy={isPending}
      onClick={() => run(messages.map(({ messageId }) => ({ action: 'receipt', messageId, status: 'read' })))}
    >
      {simulatorStrings.readAll(messages.length)}
    </Button>
  );
}

interface GroupMenuProps {
  readonly sessionId: string;
  readonly groupId: string;
  readonly name: string;
  readonly player: string;
}

function GroupMenu({ sessionId, groupId, name, player }: GroupMenuProps) {
  const [isRenaming, setRenaming] = useState(false);
  const simulate = useSimulate(sessionId);
  const { run } = useSimulateAction(sessionId);
  return (
    <>
      <Menu
        trigger={
          <IconButton label={chatStrings.groupActions}>
            <EllipsisVertical />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setRenaming(true)}>{simulatorStrings.rename}</MenuItem>
        <MenuItem
          isDangerous
          onSelect={() => run({ action: 'group_leave', groupId, from: player }, simulatorStrings.left)}
        >
          {simulatorStrings.leaveGroup}
        </MenuItem>
      </Menu>
      <Dialog title={simulatorStrings.rename} open={isRenaming} onOpenChange={setRenaming}>
        <EditForm
          label={simulatorStrings.subject}
          text={plainName(name)}
          onCancel={() => setRenaming(false)}
          onSave={async (subject) => {
            await simulate({ action: 'group_subject', groupId, subject });
            setRenaming(false);
          }}
        />
      </Dialog>
    </>
  );
}

/** The menu of a message, from the side of the phone. */
function PhoneMenu({
  sessionId,
  message,
  from,
  onReply,
  onEdit,
}: {
  readonly sessionId: string;
  readonly message: Message;
  /** The number of the phone. */
  readonly from: string;
  readonly onReply: () => void;
  readonly onEdit: () => void;
}) {
  const { messageId, direction, from: sender, type, poll, status } = message;
  const { run } = useSimulateAction(sessionId);
  const isMine = direction === 'incoming' && sender === from;

  return (
    <Menu
      defaultOpen
      trigger={
        <IconButton label={messageStrings.actions}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      {poll?.options.map((option) => (
        <MenuItem key={option} onSelect={() => run({ action: 'vote', messageId, from, options: [option] })}>
          {simulatorStrings.vote(option)}
        </MenuItem>
      ))}
      {emojis.map((emoji) => (
        <MenuItem key={emoji} onSelect={() => run({ action: 'react', messageId, from, emoji })}>
          {messageStrings.react(emoji)}
        </MenuItem>
      ))}
      <MenuItem onSelect={() => run({ action: 'react', messageId, from, emoji: '' })}>
        {messageStrings.unreact}
      </MenuItem>
      <MenuLine />
      <MenuItem onSelect={onReply}>{messageStrings.reply}</MenuItem>
      {isUnread(message) && (
        <MenuItem onSelect={() => run({ action: 'receipt', messageId, status: 'read' })}>
          {simulatorStrings.markRead}
        </MenuItem>
      )}
      {status === 'sent' && direction === 'outgoing' && (
        <MenuItem onSelect={() => run({ action: 'receipt', messageId, status: 'failed' })}>
          {simulatorStrings.fail}
        </MenuItem>
      )}
      {isMine && type === 'text' && <MenuItem onSelect={onEdit}>{messageStrings.edit}</MenuItem>}
      {isMine && (
        <MenuItem isDangerous onSelect={() => run({ action: 'delete', messageId })}>
          {messageStrings.remove}
        </MenuItem>
      )}
    </Menu>
  );
}
