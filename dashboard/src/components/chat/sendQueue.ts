import type { Media, Message } from '@switchboard/sdk/api';
import { useMutation, useMutationState } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useDraft } from '../../model/drafts.ts';
import { newKey, type Unsent, useUnsent } from '../../model/unsent.ts';
import { isCancelled, useUpload } from '../form/upload.tsx';

export interface OutgoingMessage {
  readonly text: string;
  readonly media?: { readonly mediaId: string; readonly type: 'image' | 'video' | 'audio' | 'document' };
  /** Id of the message that it replies to. */
  readonly replyTo: string | undefined;
  readonly idempotencyKey: string;
}

/** A message as the reader submits it. */
interface Written extends Unsent {
  readonly file: File | undefined;
  readonly replyingTo: Message | undefined;
}

interface SendQueueOptions {
  /** Chat that the messages are for. Drafts and unsent messages are kept under this name. */
  readonly chat: string;
  readonly replyingTo: Message | undefined;
  readonly onReplyTo: (message: Message | undefined) => void;
  /** If it rejects, the message is kept. */
  readonly onSend: (written: OutgoingMessage) => Promise<unknown>;
  readonly focus: () => void;
}

/**
 * The message that is being written, and those on their way.
 *
 * Messages are sent one after the other, in the order in which they were submitted, and the reader can write and submit
 * more of them in the meantime. One that fails returns to the composer if that is still open and empty. Otherwise it is
 * listed as unsent, so that it never merges with another text.
 */
export function useSendQueue({ chat, replyingTo, onReplyTo, onSend, focus }: SendQueueOptions) {
  const writing = useWriting(chat);
  const { text, write, file, choose } = writing;
  const [refusal, setRefusal] = useState<string>();
  /** The message that has returned to the composer. It keeps its key unless the reader changes it. */
  const returned = useRef<Written>(undefined);

  function bringBack(message: Written) {
    returned.current = message;
    unsent.discard(message.key);
    write(message.text);
    choose(message.file);
    if (message.replyingTo !== undefined) onReplyTo(message.replyingTo);
  }

  /** Whether the chat is open. It may have been left, and opened again, while a message was on its way. */
  const isOpen = useRef(false);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);

  const { send, upload, unsent, underWay } = useSending(chat, onSend, (error, message) => {
    if (isOpen.current && writing.isEmptyNow()) bringBack(message);
    // The cancel button, which had the focus, is gone.
    if (isCancelled(error)) focus();
  });

  /** Sends what is written, after the messages that are on their way. */
  function submit() {
    const before = returned.current;
    const isSame = before?.text === text && before.file === file && before.replyTo === replyingTo?.messageId;
    returned.current = undefined;
    setRefusal(undefined);
    send.mutate({
      key: isSame && before !== undefined ? before.key : newKey(),
      text,
      file,
      replyingTo,
      ...(file !== undefined && { fileName: file.name }),
      ...(replyingTo !== undefined && { replyTo: replyingTo.messageId }),
    });
    write('');
    choose(undefined);
    onReplyTo(undefined);
    focus();
  }

  function pick(next: File) {
    const reason = upload.refusalOf(next);
    setRefusal(reason);
    if (reason === undefined) choose(next);
  }

  return {
    text,
    write,
    file,
    removeFile: () => choose(undefined),
    pick,
    refusal,
    submit,
    isEmpty: text.trim() === '' && file === undefined,
    error: send.error !== null && !isCancelled(send.error) ? send.error : undefined,
    sending: upload.sending,
    underWay,
    failed: unsent.failed,
    /** Whether the page still has everything that belongs to the message. */
    canResend: (entry: Unsent) => entry.fileName === undefined || unsent.complete(entry).file !== undefined,
    resend: (entry: Unsent) => send.mutate(unsent.complete(entry)),
    edit: (entry: Unsent) => {
      bringBack(unsent.complete(entry));
      focus();
    },
    discard: (entry: Unsent) => unsent.discard(entry.key),
  };
}

export type SendQueue = ReturnType<typeof useSendQueue>;

/** The text and the file in the composer. */
function useWriting(chat: string) {
  const { text, write, current } = useDraft(chat);
  const [file, setFile] = useState<File>();
  const chosen = useRef<File>(undefined);
  return {
    text,
    write,
    file,
    choose: (next: File | undefined) => {
      chosen.current = next;
      setFile(next);
    },
    /** Whether nothing is being written at this moment. */
    isEmptyNow: () => current() === '' && chosen.current === undefined,
  };
}

/** Sends messages in their order. Everything that is submitted counts as unsent until it is known to be sent. */
function useSending(
  chat: string,
  onSend: SendQueueOptions['onSend'],
  onFailure: (error: unknown, message: Written) => void,
) {
  const upload = useUpload();
  const { entries, add, remove, wholeOf } = useUnsent<Written>(chat);
  const send = useMutation({
    mutationKey: ['send', chat],
    // One at a time, which keeps their order.
    scope: { id: `send:${chat}` },
    mutationFn: async ({ text, file, replyTo, key }: Written) => {
      const outgoing = { text, replyTo, idempotencyKey: key };
      if (file === undefined) return onSend(outgoing);
      const media = await upload.send(file);
      return onSend({ ...outgoing, media: { mediaId: media.mediaId, type: typeOf(media) } });
    },
    onMutate: (message) => {
      const { key, text, fileName, replyTo } = message;
      add(
        { key, text, ...(fileName !== undefined && { fileName }), ...(replyTo !== undefined && { replyTo }) },
        message,
      );
    },
    onSuccess: (_, { key }) => remove(key),
    onError: onFailure,
  });
  /** The messages on their way, oldest first. */
  const underWay = useMutationState({
    filters: { mutationKey: ['send', chat], status: 'pending' },
    // Mutations with this key have these variables.
    select: ({ state }) => state.variables as Written,
  });
  const failed = entries.filter(({ key }) => !underWay.some((message) => message.key === key));
  const complete = (entry: Unsent): Written =>
    wholeOf(entry.key) ?? { ...entry, file: undefined, replyingTo: undefined };
  return { send, upload, underWay, unsent: { failed, discard: remove, complete } };
}

/** The message type for a file, by the content that the server detected. */
function typeOf({ mimeType }: Media): 'image' | 'video' | 'audio' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document';
}
