import type { Media, Message } from '@switchboard/sdk/api';
import { useMutation } from '@tanstack/react-query';
import { Plus, SendHorizontal, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { errorText } from '../../api.ts';
import { useDraft } from '../../model/drafts.ts';
import { messagePreview } from '../../model/messageList.ts';
import { messageWords } from '../../strings/chats.ts';
import { uploadWords } from '../../strings/uploads.ts';
import { IconButton } from '../button.tsx';
import { Menu, MenuItem } from '../menu.tsx';
import { Notice } from '../notice.tsx';
import { isCancelled, UploadProgress, uploadStatus, useUpload } from '../upload.tsx';
import { type Extra, ExtraDialog, extraTypes } from './extraDialog.tsx';

export interface OutgoingMessage {
  readonly text: string;
  readonly media?: { readonly mediaId: string; readonly type: 'image' | 'video' | 'audio' | 'document' };
}

interface Unsent {
  readonly text: string;
  readonly file: File | undefined;
  readonly answering: Message | undefined;
}

interface ComposerProps {
  /** Names the draft: what was typed and not sent is there again when the chat is opened again. */
  readonly draftFor: string;
  readonly answering: Message | undefined;
  readonly onStopAnswering: () => void;
  /** Rejects when it could not be sent: then what was written stays. */
  readonly onSend: (written: OutgoingMessage) => Promise<unknown>;
  /** The same for a poll, a place or a contact card. */
  readonly onSendExtra: (extra: Extra) => Promise<unknown>;
  /** As the reader writes; `false` when nothing is there to be sent. */
  readonly onTyping?: (isTyping: boolean) => void;
  readonly disabled?: boolean;
}

/** Where a message is written. Enter sends it, Shift and Enter begin a new line. */
export function Composer({
  draftFor,
  answering,
  onStopAnswering,
  onSend,
  onSendExtra,
  onTyping,
  disabled = false,
}: ComposerProps) {
  const { text, write, restore } = useDraft(draftFor);
  const [file, setFile] = useState<File>();
  const [refusal, setRefusal] = useState<string>();
  const [extra, setExtra] = useState<Extra['type']>();
  const picker = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const upload = useUpload();
  const send = useMutation({
    mutationFn: async (unsent: Unsent) => {
      if (unsent.file === undefined) return onSend({ text: unsent.text });
      const media = await upload.send(unsent.file);
      return onSend({ text: unsent.text, media: { mediaId: media.mediaId, type: typeOf(media) } });
    },
    // The next one may be written while this one is on its way.
    onMutate: () => {
      setRefusal(undefined);
      write('');
      setFile(undefined);
      box.current?.focus();
    },
    onSuccess: (_, sent) => {
      if (sent.answering === answering) onStopAnswering();
    },
    onError: (error, unsent) => {
      restore(unsent.text);
      setFile((since) => since ?? unsent.file);
      // The button that was pressed is gone.
      if (isCancelled(error)) box.current?.focus();
    },
  });
  const isEmpty = text.trim() === '' && file === undefined;

  // Who chooses to answer goes on by writing.
  useEffect(() => {
    if (answering !== undefined) box.current?.focus();
  }, [answering]);

  function choose(chosen: File | undefined) {
    // A choice that was broken off leaves what was there.
    if (chosen === undefined) return;
    const why = upload.refusalOf(chosen);
    setRefusal(why);
    if (why === undefined) setFile(chosen);
  }

  function submit() {
    if (!isEmpty && !disabled && !send.isPending) send.mutate({ text, file, answering });
  }

  function keyDown(event: KeyboardEvent) {
    // While an input method composes a word, Enter belongs to it.
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
        {answering !== undefined && (
          <Strip label={messageWords.stopAnswering} onRemove={onStopAnswering}>
            {`${messageWords.answering}: ${messagePreview(answering, messageWords)}`}
          </Strip>
        )}
        <p role="status" className="truncate px-3 text-xs text-ink-soft empty:hidden">
          {upload.sending !== undefined && uploadStatus(upload.sending)}
          {upload.sending === undefined &&
            send.isPending &&
            send.variables.file !== undefined &&
            uploadWords.sending(send.variables.file.name)}
        </p>
        {upload.sending !== undefined && <UploadProgress sending={upload.sending} />}
        {file !== undefined && (
          <Strip label={messageWords.removeAttachment} onRemove={() => setFile(undefined)}>
            {messageWords.attached(file.name)}
          </Strip>
        )}
        <div className="flex items-end gap-1.5">
          <input
            ref={picker}
            type="file"
            hidden
            onChange={({ currentTarget }) => {
              choose(currentTarget.files?.[0]);
              currentTarget.value = '';
            }}
          />
          <Menu
            trigger={
              <IconButton label={messageWords.more} disabled={disabled}>
                <Plus />
              </IconButton>
            }
          >
            <MenuItem onSelect={() => picker.current?.click()}>{messageWords.attach}</MenuItem>
            {extraTypes.map((type) => (
              <MenuItem key={type} onSelect={() => setExtra(type)}>
                {messageWords.sendExtra[type]}
              </MenuItem>
            ))}
          </Menu>
          <label htmlFor={id} className="sr-only">
            {messageWords.write}
          </label>
          <textarea
            id={id}
            ref={box}
            rows={1}
            dir="auto"
            value={text}
            disabled={disabled}
            placeholder={messageWords.placeholder}
            onKeyDown={keyDown}
            onChange={({ currentTarget: { value } }) => {
              write(value);
              onTyping?.(value !== '');
            }}
            className="field-sizing-content max-h-40 min-h-9 min-w-0 flex-1 resize-none rounded-lg border border-line-strong bg-surface px-3 py-1.5 text-sm"
          />
          <IconButton
            type="submit"
            label={messageWords.send}
            disabled={disabled || isEmpty || send.isPending}
            className="bg-accent text-on-accent not-disabled:hover:bg-accent-strong not-disabled:hover:text-on-accent"
          >
            <SendHorizontal />
          </IconButton>
        </div>
      </form>
      <ExtraDialog type={extra} onSend={onSendExtra} onClose={() => setExtra(undefined)} />
    </>
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

/** What a file is sent as: by what the server has found in it. */
function typeOf({ mimeType }: Media): 'image' | 'video' | 'audio' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document';
}
