import type { Chat } from '@switchboard/sdk/api';
import { api } from '../../api.ts';
import { ConfirmDialog } from '../../components/dialog/confirmDialog.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { chatStrings } from '../../strings/chats.ts';

interface RemoveChatProps {
  readonly chat: Pick<Chat, 'chatId' | 'sessionId'>;
  readonly what: 'clear' | 'delete';
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Asks before the messages of a chat, or the chat itself, are deleted. */
export function RemoveChat({ chat: { chatId, sessionId }, what, onClose, onDeleted }: RemoveChatProps) {
  const refresh = useRefresh();
  const toast = useToast();
  return (
    <ConfirmDialog
      title={chatStrings.removal[what].title}
      confirm={chatStrings.removal[what].confirm}
      open
      onOpenChange={onClose}
      onConfirm={async () => {
        const { synchronized } =
          what === 'delete'
            ? await api.chats.delete({ chatId, sessionId })
            : await api.chats.clear({ chatId, sessionId });
        await refresh('messages', 'chats');
        if (!synchronized) toast(chatStrings.removal.onlyHere);
        if (what === 'delete') onDeleted();
      }}
    >
      {chatStrings.removal.hint}
    </ConfirmDialog>
  );
}
