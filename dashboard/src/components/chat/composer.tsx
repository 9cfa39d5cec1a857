import type { Media, Message } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { Plus, SendHorizontal, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { errorText } from '../../api.ts';
import { useDraft } from '../../model/drafts.ts';
import { messagePreview } from '../../model/messageList.ts';
import { messageStrings } from '../../strings/chats.ts';
import { uploadStrings } from '../../strings/uploads.ts';
import { IconButton } from '../button.tsx';
import { FilePicker } from '../filePicker.tsx';
import { Menu, MenuItem } from '../menu.tsx';
import { Notice } from '../notice.tsx';
import { isCancelled, type Sending, UploadProgress, uploadStatus, useUpload } from '../upload.tsx';
import { type Extra, ExtraDialog, extraTypes } from './extraDialog.tsx';

export interface OutgoingMessage {
  readonly text: string;
  readonly media?: { readonly mediaId: string; readonly type: 'image' | 'video' | 'audio' | 'document' };
}

interface Unsent {
  readonly text: string;
  readonly file: File | undefined;
  readonly replyingTo: Message | undefined;
}

interface ComposerProps {
  /** Names the draft, which is restored when the chat is opened again. */
  readonly draftFor: string;
  readonly replyingTo: Message | undefined;
  readonly onCancelReply: () => void;
  /** If it rejects, the text stays. */
  readonly onSend: (written: OutgoingMessage) => Promise<unknown>;
  /** Sends a poll, a location or a contact. */
  readonly onSendExtra: (extra: Extra) => Promise<unknown>;
  /** Called as the reader types. False once the text is empty. */
  readonly onTyping?: (isTyping: boolean) => void;
  readonly disabled?: boolean;
}

/** Where a message is written. Enter sends it, Shift+Enter starts a new line. */
export function Composer({ onTyping, disabled = false, ...props }: ComposerProps) {
  const { replyingTo, onCancelReply, onSendExtra } = props;
  const box = useRef<HTMLTextAreaElement>(null);
  const [extra, setExtra] = useState<Extra['type']>();
  const id = useId();
  const { text, write, file, setFile, refusal, pick, send, sending } = useComposer(props, () => box.current?.focus());
  const isEmpty = text.trim() === '' && file === undefined;

  useEffect(() => {
    if (replyingTo !== undefined) box.current?.focus();
  }, [replyingTo]);

  function submit() {
    if (!isEmpty && !disabled && !send.isPending) send.mutate({ text, file, replyingTo });
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
        {send.error !== null && !isCancelled(send.error) && <Notice tone="bad">{errorText(send.error)}</Notice>}
        {refusal !== undefined && <Notice tone="bad">{refusal}</Notice>}
        {replyingTo !== undefined && (
          <Strip label={messageStrings.cancelReply} onRemove={onCancelReply}>
            {`${messageStrings.replyingTo}: ${messagePreview(replyingTo, messageStrings)}`}
          </Strip>
        )}
        <SendStatus sending={sending} file={send.isPending ? send.variables.file : undefined} />
        {file !== undefined && (
          <Strip label={messageStrings.removeAttachment} onRemove={() => setFile(undefined)}>
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
            disabled={disabled || isEmpty || send.isPending}
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

type SendingProps = Pick<ComposerProps, 'draftFor' | 'replyingTo' | 'onCancelReply' | 'onSend'>;

/** The draft with its file, and the request that sends them. */
function useComposer({ draftFor, replyingTo, onCancelReply, onSend }: SendingProps, focus: () => void) {
  const { text, write, restore } = useDraft(draftFor);
  const [file, setFile] = useState<File>();
  const [refusal, setRefusal] = useState<string>();
  const upload = useUpload();
  const send = useMutation({
    mutationFn: async (unsent: Unsent) => {
      if (unsent.file === undefined) return onSend({ text: unsent.text });
      const media = await upload.send(unsent.file);
      return onSend({ text: unsent.text, media: { mediaId: media.mediaId, type: typeOf(media) } });
    },
    // The next message can be written while this one is being sent.
    onMutate: () => {
      setRefusal(undefined);
      write('');
      setFile(undefined);
      focus();
    },
    onSuccess: (_, sent) => {
      if (sent.replyingTo === replyingTo) onCancelReply();
    },
    onError: (error, unsent) => {
      restore(unsent.text);
      setFile((picked) => picked ?? unsent.file);
      // The cancel button, which had the focus, is gone.
      if (isCancelled(error)) focus();
    },
  });

  function pick(picked: File) {
    const reason = upload.refusalOf(picked);
    setRefusal(reason);
    if (reason === undefined) setFile(picked);
  }

  return { text, write, file, setFile, refusal, pick, send, sending: upload.sending };
}

interface SendStatusProps {
  readonly sending: Sending | undefined;
  /** The file of the message that is being sent. */
  readonly file: File | undefined;
}

function SendStatus({ sending, file }: SendStatusProps) {
  return (
    <>
      <p role="status" className="truncate px-3 text-xs text-ink-soft empty:hidden">
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

/** The message type for a file, by the content that the server detected. */
function typeOf({ mimeType }: Media): 'image' | 'video' | 'audio' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document';
}
