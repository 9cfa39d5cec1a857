import type { Message, Session } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, EllipsisVertical } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Composer } from '../../components/chat/composer.tsx';
import { EditForm } from '../../components/chat/editForm.tsx';
import type { Extra } from '../../components/chat/extraDialog.tsx';
import { Thread } from '../../components/chat/thread.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { Loaded } from '../../components/states.tsx';
import { useMessages } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import { sessionName } from '../../model/sessions.ts';
import { chatWords, emojis, messageWords } from '../../strings/chats.ts';
import { simulatorWords } from '../../strings/simulator.ts';
import { type Action, useSimulate, useSimulateButton } from './simulate.ts';

interface PhonePaneProps {
  readonly session: Session;
  /** The number that is played, or a group of which a member is. */
  readonly chatId: string;
  readonly nameOf: NameOf;
  readonly onBack: () => void;
}

/** A phone in the hand of somebody who talks to the session. */
export function PhonePane({ session, chatId, nameOf, onBack }: PhonePaneProps) {
  const { sessionId, status } = session;
  const [answering, setAnswering] = useState<Message>();
  const [chosenMember, setMember] = useState<string>();
  const [isRenaming, setRenaming] = useState(false);
  const [edited, setEdited] = useState<Message>();
  const isGroup = chatId.startsWith('grp_');
  const group = useQuery({
    queryKey: ['groups', chatId],
    queryFn: () => api.groups.get({ groupId: chatId }),
    enabled: isGroup,
  });
  const others = group.data?.participants.filter(({ phoneNumber }) => phoneNumber !== session.phoneNumber) ?? [];
  const member = others.find(({ phoneNumber }) => phoneNumber === chosenMember) ?? others[0];
  const player = isGroup ? member?.phoneNumber : chatId;
  const list = useMessages(sessionId, chatId);
  const simulate = useSimulate(sessionId);
  const run = useSimulateButton(sessionId);
  const name = nameOf(chatId);
  const isOnline = status === 'connected';
  const unread = list.messages.filter(
    ({ direction, status: reached }) => direction === 'outgoing' && (reached === 'sent' || reached === 'delivered'),
  );

  function readAll() {
    run.mutate({ action: unread.map(({ messageId }) => ({ action: 'receipt', messageId, status: 'read' })) });
  }

  /** Writes as the one who is played. */
  function write(content: Partial<Action>): Promise<void> {
    return simulate({
      action: 'incoming',
      ...(player !== undefined && { from: player }),
      ...(isGroup && { groupId: chatId }),
      ...(answering !== undefined && { messageId: answering.messageId }),
      ...content,
    });
  }

  async function writeExtra({ type, ...extra }: Extra) {
    if ('question' in extra) {
      const { question, ...poll } = extra;
      await write({ message: question, poll });
    } else if ('latitude' in extra) await write({ location: extra });
    else await write({ contact: extra });
    setAnswering(undefined);
  }

  return (
    <>
      <header className="flex min-h-15 flex-wrap items-center gap-2 border-b border-line px-3 py-2 wide:pl-4">
        <IconButton label={chatWords.back} onClick={onBack} className="wide:hidden">
          <ArrowLeft />
        </IconButton>
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{isGroup ? name : simulatorWords.phoneOf(name)}</h2>
          <p className="truncate text-xs text-ink-faint">{simulatorWords.talksTo(sessionName(session))}</p>
        </div>
        {isGroup && player !== undefined && (
          <label className="flex items-center gap-2 text-xs text-ink-faint">
            {simulatorWords.youAre}
            <select
              value={player}
              onChange={(event) => setMember(event.currentTarget.value)}
              className="h-8 rounded-lg border border-line-strong bg-surface px-2 text-sm text-ink"
            >
              {others.map(({ phoneNumber }) => (
                <option key={phoneNumber} value={phoneNumber}>
                  {nameOf(phoneNumber)}
                </option>
              ))}
            </select>
          </label>
        )}
        {unread.length > 0 && (
          <Button size="small" title={simulatorWords.readHint} busy={run.isPending} onClick={readAll}>
            {simulatorWords.readAll(unread.length)}
          </Button>
        )}
        {isGroup && player !== undefined && (
          <Menu
            trigger={
              <IconButton label={chatWords.group}>
                <EllipsisVertical />
              </IconButton>
            }
          >
            <MenuItem onSelect={() => setRenaming(true)}>{simulatorWords.rename}</MenuItem>
            <MenuItem
              isDangerous
              onSelect={() =>
                run.mutate({
                  action: { action: 'group_leave', groupId: chatId, from: player },
                  done: simulatorWords.left,
                })
              }
            >
              {simulatorWords.leaveGroup}
            </MenuItem>
          </Menu>
        )}
      </header>
      <Loaded query={list}>
        {() =>
          list.messages.length === 0 ? (
            <p className="m-auto p-6 text-sm text-ink-faint">{chatWords.noMessages}</p>
          ) : (
            <Thread
              label={chatWords.messages(name)}
              messages={list.messages}
              ownDirection="incoming"
              isOwn={({ direction, from }) => direction === 'incoming' && from === player}
              nameOf={nameOf}
              older={list.more}
              actions={(message) =>
                player === undefined || message.deleted ? undefined : (
                  <PhoneMenu
                    sessionId={sessionId}
                    message={message}
                    from={player}
                    onAnswer={() => setAnswering(message)}
                    onEdit={() => setEdited(message)}
                  />
                )
              }
            />
          )
        }
      </Loaded>
      <Composer
        draftFor={`simulator:${sessionId}/${chatId}`}
        answering={answering}
        onStopAnswering={() => setAnswering(undefined)}
        disabled={!isOnline || player === undefined}
        onSend={({ text, media }) => write({ ...(text !== '' && { message: text }), ...media })}
        onSendExtra={writeExtra}
      />
      <Dialog title={simulatorWords.rename} open={isRenaming} onOpenChange={setRenaming}>
        <EditForm
          label={simulatorWords.subject}
          text={name}
          onCancel={() => setRenaming(false)}
          onSave={async (subject) => {
            await simulate({ action: 'group_subject', groupId: chatId, subject });
            setRenaming(false);
          }}
        />
      </Dialog>
      {/* Not in the menu of the message, whose row goes away as the thread scrolls. */}
      <Dialog title={messageWords.editTitle} open={edited !== undefined} onOpenChange={() => setEdited(undefined)}>
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

/** What can be done with a message from the other side. */
function PhoneMenu({
  sessionId,
  message,
  from,
  onAnswer,
  onEdit,
}: {
  readonly sessionId: string;
  readonly message: Message;
  /** Whose phone it is. */
  readonly from: string;
  readonly onAnswer: () => void;
  readonly onEdit: () => void;
}) {
  const { messageId, direction, from: sender, type, poll, status } = message;
  const run = useSimulateButton(sessionId);
  const isMine = direction === 'incoming' && sender === from;
  const isUnread = direction === 'outgoing' && (status === 'sent' || status === 'delivered');

  return (
    <Menu
      defaultOpen
      trigger={
        <IconButton label={messageWords.actions}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      {poll?.options.map((option) => (
        <MenuItem
          key={option}
          onSelect={() => run.mutate({ action: { action: 'vote', messageId, from, options: [option] } })}
        >
          {simulatorWords.vote(option)}
        </MenuItem>
      ))}
      {emojis.map((emoji) => (
        <MenuItem key={emoji} onSelect={() => run.mutate({ action: { action: 'react', messageId, from, emoji } })}>
          {messageWords.react(emoji)}
        </MenuItem>
      ))}
      <MenuItem onSelect={() => run.mutate({ action: { action: 'react', messageId, from, emoji: '' } })}>
        {messageWords.unreact}
      </MenuItem>
      <MenuLine />
      <MenuItem onSelect={onAnswer}>{messageWords.answer}</MenuItem>
      {isUnread && (
        <MenuItem onSelect={() => run.mutate({ action: { action: 'receipt', messageId, status: 'read' } })}>
          {simulatorWords.markRead}
        </MenuItem>
      )}
      {status === 'sent' && direction === 'outgoing' && (
        <MenuItem onSelect={() => run.mutate({ action: { action: 'receipt', messageId, status: 'failed' } })}>
          {simulatorWords.fail}
        </MenuItem>
      )}
      {isMine && type === 'text' && <MenuItem onSelect={onEdit}>{messageWords.edit}</MenuItem>}
      {isMine && (
        <MenuItem isDangerous onSelect={() => run.mutate({ action: { action: 'delete', messageId } })}>
          {messageWords.remove}
        </MenuItem>
      )}
    </Menu>
  );
}
