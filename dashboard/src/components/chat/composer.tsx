import type { Message } from '@switchboard/sdk/api';
import { Plus, SendHorizontal, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { errorText } from '../../api.ts';
import { messagePreview } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import { messageStrings } from '../../strings/chats.ts';
import { uploadStrings } from '../../strings/uploads.ts';
import { Button, IconButton } from '../button.tsx';
import { FilePicker } from '../form/filePicker.tsx';
import { UploadProgress, uploadStatus } from '../form/upload.tsx';
import { Menu, MenuItem } from '../menu.tsx';
import { Notice } from '../notice.tsx';
import { type Extra, ExtraDialog, extraTypes } from './extraDialog.tsx';
import { type OutgoingMessage, type SendQueue, useSendQueue } from './sendQueue.ts';

interface ComposerProps {
  /** Names the draft, which is restored when the chat is opened again. */
  readonly draftFor: string;
  readonly replyingTo: Message | undefined;
  readonly nameOf: NameOf;
  readonly onReplyTo: (message: Message | undefined) => void;
  /** If it rejects, the message is kept. */
  readonly onSend: (written: OutgoingMessage) => Promise<unknown>;
  /** Sends a poll, a location or a contact. */
  readonly onSendExtra: (extra: Extra) => Promise<unknown>;
  /** Called as the reader types. False once the text is empty. */
  readonly onTyping?: (isTyping: boolean) => void;
  readonly disabled?: boolean;
}

/** Where a message is written. Enter sends it, Shift+Enter starts a new line. */
export function Composer({ onTyping, disabled = false, ...props }: ComposerProps) {
  const { draftFor, replyingTo, nameOf, onReplyTo, onSend, onSendExtra } = props;
  const box = useRef<HTMLTextAreaElement>(null);
  const [extra, setExtra] = useState<Extra['type']>();
  const id = useId();
  const queue = useSendQueue({ chat: draftFor, replyingTo, onReplyTo, onSend, focus: () => box.current?.focus() });
  const { text, write, file, removeFile, refusal, pick, isEmpty } = queue;

  useEffect(() => {
    if (replyingTo !== undefined) box.current?.focus();
  }, [replyingTo]);

  function submit() {
    if (!isEmpty && !disabled) queue.submit();
  }

  function keyDown(event: KeyboardEvent) {
    // Enter belongs to the input method while it composes a word.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  }

  return (
    <>
      <form
        className="grid grid-cols-1 gap-2 border-t border-line bg-surface p-3"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {queue.error !== undefined && <Notice tone="bad">{errorText(queue.error)}</Notice>}
        {refusal !== undefined && <Notice tone="bad">{refusal}</Notice>}
        {replyingTo !== undefined && (
          <Strip label={messageStrings.cancelReply} onRemove={() => onReplyTo(undefined)}>
            {`${messageStrings.replyingTo}: ${messagePreview(replyingTo, messageStrings, nameOf)}`}
          </Strip>
        )}
        <UnsentList queue={queue} disabled={disabled} />
        <SendStatus queue={queue} />
        {file !== undefined && (
          <Strip label={messageStrings.removeAttachment} onRemove={removeFile}>
            {messageStrings.attached(file.name)}
          </Strip>
        )}
        <div className="flex items-end gap-1.5">
          <AttachMenu disabled={disabled} onPick={pick} onChoose={setExtra} />
          <label htmlFor={id} className="sr-only">
            {messageStrings.write}
          </label>
          <textarea
            id={id}
            ref={box}
            rows={1}
            dir="auto"
            value={text}
            disabled={disabled}
            placeholder={messageStrings.placeholder}
            onKeyDown={keyDown}
            onChange={({ currentTarget: { value } }) => {
              write(value);
              onTyping?.(value !== '');
            }}
            className="field-sizing-content max-h-40 min-h-9 min-w-0 flex-1 resize-none rounded-lg border border-line-strong bg-surface px-3 py-1.5 text-sm"
          />
          <IconButton
            type="submit"
            label={messageStrings.send}
            disabled={disabled || isEmpty}
            className="bg-accent text-on-accent not-disabled:hover:bg-accent-strong not-disabled:hover:text-on-accent"
          >
            <SendHorizontal />
          </IconButton>
        </div>
      </form>
      {/* Outside of the form: its submit event would bubble there. */}
      <ExtraDialog type={extra} onSend={onSendExtra} onClose={() => setExtra(undefined)} />
    </>
  );
}

/** Messages that failed while the next one was being written, with the choice to send, edit or discard each. */
function UnsentList({ queue, disabled }: { readonly queue: SendQueue; readonly disabled: boolean }) {
  if (queue.failed.length === 0) return null;
  return (
    <ul aria-label={messageStrings.unsent} className="grid max-h-40 grid-cols-1 gap-1 overflow-y-auto">
      {queue.failed.map((entry) => (
        <li key={entry.key} className="flex items-center gap-1 rounded-lg bg-warn-soft pl-3 text-xs text-warn">
          <span className="min-w-0 flex-1 truncate">
            {messageStrings.notSent([entry.text, entry.fileName].filter(Boolean).join(', '))}
          </span>
          {queue.canResend(entry) && (
            <Button size="small" look="quiet" disabled={disabled} onClick={() => queue.resend(entry)}>
              {messageStrings.resend}
            </Button>
          )}
          <Button size="small" look="quiet" disabled={!queue.isEmpty} onClick={() => queue.edit(entry)}>
            {messageStrings.edit}
          </Button>
          <IconButton label={messageStrings.discard} onClick={() => queue.discard(entry)}>
            <X />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

function SendStatus({ queue: { sending, underWay } }: { readonly queue: SendQueue }) {
  const file = underWay[0]?.file;
  return (
    <>
      <p role="status" className="truncate px-3 text-xs text-ink-soft empty:hidden">
        {underWay.length > 1 && `${messageStrings.waiting(underWay.length)} `}
        {sending !== undefined ? uploadStatus(sending) : file !== undefined && uploadStrings.sending(file.name)}
      </p>
      {sending !== undefined && <UploadProgress sending={sending} />}
    </>
  );
}

interface AttachMenuProps {
  readonly disabled: boolean;
  readonly onPick: (file: File) => void;
  readonly onChoose: (type: Extra['type']) => void;
}

function AttachMenu({ disabled, onPick, onChoose }: AttachMenuProps) {
  return (
    <FilePicker onPick={onPick}>
      {(open) => (
        <Menu
          trigger={
            <IconButton label={messageStrings.more} disabled={disabled}>
              <Plus />
            </IconButton>
          }
        >
          <MenuItem onSelect={open}>{messageStrings.attach}</MenuItem>
          {extraTypes.map((type) => (
            <MenuItem key={type} onSelect={() => onChoose(type)}>
              {messageStrings.sendExtra[type]}
            </MenuItem>
          ))}
        </Menu>
      )}
    </FilePicker>
  );
}

function Strip({
  label,
  onRemove,
  children,
}: {
  readonly label: string;
  readonly onRemove: () => void;
  readonly children: string;
}) {
  return (
    <div className="flex items-center gap-2 rounded-lg bg-sunken pl-3 text-xs text-ink-soft">
      <span className="min-w-0 flex-1 truncate">{children}</span>
      <IconButton label={label} onClick={onRemove}>
        <X />
      </IconButton>
    </div>
  );
}
