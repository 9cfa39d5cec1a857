import type { Message } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { EllipsisVertical } from 'lucide-react';
import { api } from '../../api.ts';
import { IconButton } from '../../components/button.tsx';
import { EditForm } from '../../components/chat/editForm.tsx';
import { PhoneNumberDialog } from '../../components/chat/phoneNumberDialog.tsx';
import { ConfirmDialog } from '../../components/dialog/confirmDialog.tsx';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { JsonInspector } from '../../components/schema/jsonInspector.tsx';
import { Time } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useAction, useRefresh } from '../../model/actions.ts';
import type { NameOf } from '../../model/names.ts';
import { emojis, messageStrings } from '../../strings/chats.ts';
import { Receipts } from './receipts.tsx';

/** A dialog about a message. The pane renders it, because the row of the message unmounts as the thread scrolls. */
export interface OpenedMessage {
  readonly what: 'edit' | 'delete' | 'deleteForMe' | 'details' | 'forward';
  readonly message: Message;
}

/** The menu of a message, from the side of the session. */
export function MessageMenu({
  message,
  isConnected,
  onReply,
  onOpen,
}: {
  readonly message: Message;
  readonly isConnected: boolean;
  readonly onReply: () => void;
  readonly onOpen: (opened: OpenedMessage) => void;
}) {
  const { messageId, direction, status, deleted, type, starred, pinnedUntil, reactions = [] } = message;
  const { run } = useAction('messages', 'chats');
  const open = (what: OpenedMessage['what']) => onOpen({ what, message });
  const isSent = status === 'sent' || status === 'delivered' || status === 'read';
  const canChange = isConnected && isSent && !deleted;
  const isOwn = direction === 'outgoing';
  const hasText = type === 'text' || message.media !== undefined;

  return (
    <Menu
      defaultOpen
      trigger={
        <IconButton label={messageStrings.actions}>
          <EllipsisVertical />
        </IconButton>
      }
    >
      {canChange &&
        emojis.map((emoji) => (
          <MenuItem key={emoji} onSelect={() => run(() => api.messages.react({ messageId, emoji }))}>
            {messageStrings.react(emoji)}
          </MenuItem>
        ))}
      {canChange && reactions.length > 0 && (
        <MenuItem onSelect={() => run(() => api.messages.react({ messageId, emoji: '' }))}>
          {messageStrings.unreact}
        </MenuItem>
      )}
      {canChange && <MenuLine />}
      {canChange && <MenuItem onSelect={onReply}>{messageStrings.reply}</MenuItem>}
      {canChange && <MenuItem onSelect={() => open('forward')}>{messageStrings.forward}</MenuItem>}
      {canChange && (
        <MenuItem
          onSelect={() => run(() => (starred ? api.messages.unstar({ messageId }) : api.messages.star({ messageId })))}
        >
          {starred ? messageStrings.unstar : messageStrings.star}
        </MenuItem>
      )}
      {canChange && (
        <MenuItem
          onSelect={() =>
            run(() => (pinnedUntil === undefined ? api.messages.pin({ messageId }) : api.messages.unpin({ messageId })))
          }
        >
          {pinnedUntil === undefined ? messageStrings.pin : messageStrings.unpin}
        </MenuItem>
      )}
      {canChange && isOwn && hasText && <MenuItem onSelect={() => open('edit')}>{messageStrings.edit}</MenuItem>}
      {(status === 'scheduled' || status === 'pending_approval') && (
        <MenuItem onSelect={() => run(() => api.messages.cancel({ messageId }))}>
          {messageStrings.cancelScheduled}
        </MenuItem>
      )}
      <MenuItem onSelect={() => open('details')}>{messageStrings.details}</MenuItem>
      {isConnected && isSent && (
        <MenuItem isDangerous onSelect={() => open('deleteForMe')}>
          {messageStrings.removeForMe}
        </MenuItem>
      )}
      {canChange && isOwn && (
        <MenuItem isDangerous onSelect={() => open('delete')}>
          {messageStrings.remove}
        </MenuItem>
      )}
    </Menu>
  );
}

/** The dialog that was opened from the menu of a message. */
export function MessageDialog({
  opened: {
    what,
    message: { messageId, message },
  },
  nameOf,
  onClose,
}: {
  readonly opened: OpenedMessage;
  readonly nameOf: NameOf;
  readonly onClose: () => void;
}) {
  const toast = useToast();
  const refresh = useRefresh();
  if (what === 'edit') {
    return (
      <Dialog title={messageStrings.editTitle} open onOpenChange={onClose}>
        <EditForm
          text={message}
          onCancel={onClose}
          onSave={async (text) => {
            await api.messages.edit({ messageId, message: text });
            await refresh('messages', 'chats');
            onClose();
          }}
        />
      </Dialog>
    );
  }
  if (what === 'delete' || what === 'deleteForMe') {
    const isForMe = what === 'deleteForMe';
    return (
      <ConfirmDialog
        title={isForMe ? messageStrings.removeForMeTitle : messageStrings.removeTitle}
        confirm={isForMe ? messageStrings.removeForMe : messageStrings.remove}
        open
        onOpenChange={onClose}
        onConfirm={async () => {
          await api.messages.delete({ messageId, ...(isForMe && { for: 'me' }) });
          await refresh('messages', 'chats');
        }}
      >
        {isForMe ? messageStrings.removeForMeHint : messageStrings.removeHint}
      </ConfirmDialog>
    );
  }
  if (what === 'forward') {
    return (
      <PhoneNumberDialog
        title={messageStrings.forwardTitle}
        confirm={messageStrings.forward}
        open
        onOpenChange={onClose}
        onChoose={async (to) => {
          await api.messages.forward({ messageId, to });
          toast(messageStrings.wasForwarded);
          await refresh('messages', 'chats');
        }}
      />
    );
  }
  return (
    <Dialog title={messageStrings.detailsTitle} open onOpenChange={onClose} width="wide">
      <Details messageId={messageId} nameOf={nameOf} />
    </Dialog>
  );
}

function Details({ messageId, nameOf }: { readonly messageId: string; readonly nameOf: NameOf }) {
  const query = useQuery({
    queryKey: ['messages', messageId, 'history'],
    queryFn: () => api.messages.get({ messageId }),
  });
  return (
    <Loaded query={query}>
      {(message) => (
        <div className="grid grid-cols-1 gap-5">
          <ol className="grid gap-1.5 text-sm">
            {message.statusHistory.map(({ status, at }) => (
              <li key={`${status} ${at}`} className="flex justify-between gap-4">
                <span>{messageStrings.statuses[status]}</span>
                <span className="text-ink-faint">
                  <Time at={at} />
                </span>
              </li>
            ))}
          </ol>
          {message.direction === 'outgoing' && <Receipts message={message} nameOf={nameOf} />}
          <JsonInspector value={message} label={messageStrings.rawTitle} />
        </div>
      )}
    </Loaded>
  );
}
