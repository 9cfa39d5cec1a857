import type { Message } from '@switchboard/sdk/api';
import { ApiError } from '@switchboard/sdk/errors';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { api, errorText } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Bubble } from '../../components/chat/bubble.tsx';
import { LongText } from '../../components/chat/longText.tsx';
import { Dialog } from '../../components/dialog/dialog.tsx';
import { TextArea } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Lamp } from '../../components/lamp.tsx';
import { Facts } from '../../components/page/layout.tsx';
import { Time, useNow } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useRefresh } from '../../model/actions.ts';
import { type NameOf, useNames } from '../../model/names.ts';
import { outgoingParts } from '../../model/outgoingParts.ts';
import { approvalStrings } from '../../strings/approvals.ts';
import { chatStrings } from '../../strings/chats.ts';

interface ApprovalCardProps {
  readonly message: Message;
  /** The message after the reader has decided. */
  readonly decided: Message | undefined;
  readonly isWaiting: boolean;
  /** Name of the session. */
  readonly session: string;
  /** Name of the API key that asked. */
  readonly apiKey: string;
  readonly onDecided: (message: Message) => void;
}

/** One message with who asked for it, and the buttons that decide on it. */
export function ApprovalCard({ message, decided: own, isWaiting, session, apiKey, onDecided }: ApprovalCardProps) {
  const { messageId, sessionId, chatId } = message;
  const isOver = own === undefined && !isWaiting;
  const elsewhere = useQuery({
    queryKey: ['messages', 'decided', messageId],
    queryFn: () => api.messages.get({ messageId }),
    enabled: isOver,
  });
  const decided = own ?? (isOver ? elsewhere.data : undefined);
  const id = useId();
  const nameOf = useNames(sessionId);
  const name = nameOf(chatId);

  return (
    <article aria-labelledby={id} className="min-w-0 rounded-card border border-line bg-surface p-4 wide:p-5">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <h2 id={id} tabIndex={-1} className="min-w-0 font-semibold wrap-anywhere">
          {approvalStrings.to(name)}
        </h2>
        <p role="status">
          <Outcome decided={decided} isWaiting={isWaiting} />
        </p>
      </div>
      <div className="mt-3 grid grid-cols-1 items-start gap-4 wide:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]">
        <div className="grid gap-3 wide:order-last">
          <Quote message={message} nameOf={nameOf} />
          <Bubble message={decided ?? message} isOwn isFound={false} repliedTo={undefined} nameOf={nameOf} />
          <Parts message={decided ?? message} />
        </div>
        <Facts
          facts={[
            // Beside the name, which the recipient chose.
            [approvalStrings.recipient, chatStrings.phone(chatId)],
            [approvalStrings.session, `${session} (${chatStrings.phone(message.from)})`],
            [approvalStrings.key, apiKey],
            ...timesOf(message),
          ]}
        />
      </div>
      <Decision message={message} name={name} canDecide={own === undefined && isWaiting} onDecided={onDecided} />
    </article>
  );
}

/** The message that the recipient sees quoted, with its sender and chat. */
function Quote({ message: { quoted }, nameOf }: { readonly message: Message; readonly nameOf: NameOf }) {
  if (quoted?.chatId === undefined) return null;
  const { from = '', chatId, type = '', message = '' } = quoted;
  const sender = `${nameOf(from)} (${chatStrings.phone(from)})`;
  return (
    <figure className="min-w-0 border-l-2 border-accent pl-3 text-sm wrap-anywhere">
      <figcaption className="text-xs text-ink-faint">
        {approvalStrings.quotes(sender, `${nameOf(chatId)} (${chatStrings.phone(chatId)})`)}
      </figcaption>
      <LongText text={message === '' ? type : message} className="whitespace-pre-wrap" />
    </figure>
  );
}

/** Every value that goes out besides the text, as it is. */
function Parts({ message }: { readonly message: Message }) {
  const parts = outgoingParts(message);
  const { previewImage } = message;
  if (parts.length === 0 && previewImage === undefined) return null;
  return (
    <div className="min-w-0">
      <h3 className="mb-1.5 text-xs font-medium text-ink-faint">{approvalStrings.parts}</h3>
      {previewImage !== undefined && (
        <img src={`data:image/jpeg;base64,${previewImage}`} alt={approvalStrings.previewImage} className="max-w-40" />
      )}
      <Facts facts={parts} />
    </div>
  );
}

interface DecisionProps {
  readonly message: Message;
  /** Name of the recipient. */
  readonly name: string;
  readonly canDecide: boolean;
  readonly onDecided: (message: Message) => void;
}

/** The buttons that decide on a message, and their dialogs. They close if somebody else decides. */
function Decision({ message, name, canDecide, onDecided }: DecisionProps) {
  const { messageId, type, media } = message;
  const [open, setOpen] = useState<'edit' | 'reject'>();
  const decide = useDecide(onDecided);
  const canEdit = type === 'text' || (media !== undefined && type !== 'sticker');

  return (
    <>
      {canDecide && (
        <div className="mt-4 flex flex-wrap gap-2.5">
          <Button
            look="primary"
            aria-label={approvalStrings.approveLabel(name)}
            busy={decide.isPending}
            onClick={() => decide.mutate(() => api.messages.approve({ messageId }))}
          >
            {approvalStrings.approve}
          </Button>
          {canEdit && (
            <Button aria-label={approvalStrings.editLabel(name)} onClick={() => setOpen('edit')}>
              {approvalStrings.edit}
            </Button>
          )}
          <Button look="danger" aria-label={approvalStrings.rejectLabel(name)} onClick={() => setOpen('reject')}>
            {approvalStrings.reject}
          </Button>
        </div>
      )}
      <Dialog
        title={approvalStrings.editTitle}
        open={open === 'edit' && canDecide}
        onOpenChange={() => setOpen(undefined)}
        width="wide"
      >
        <EditForm message={message} onDecided={onDecided} onClose={() => setOpen(undefined)} />
      </Dialog>
      <Dialog
        title={approvalStrings.rejectTitle}
        description={approvalStrings.rejectHint}
        open={open === 'reject' && canDecide}
        onOpenChange={() => setOpen(undefined)}
      >
        <RejectForm messageId={messageId} onDecided={onDecided} onClose={() => setOpen(undefined)} />
      </Dialog>
    </>
  );
}

function Outcome({ decided, isWaiting }: Pick<ApprovalCardProps, 'decided' | 'isWaiting'>) {
  const status = decided?.approval?.status;
  if (status === 'approved') return <Lamp tone="good">{approvalStrings.approved}</Lamp>;
  if (status === 'rejected') return <Lamp tone="bad">{approvalStrings.rejected}</Lamp>;
  if (status === 'withdrawn') return <Lamp tone="off">{approvalStrings.cancelled}</Lamp>;
  if (status === 'expired') return <Lamp tone="off">{approvalStrings.expired}</Lamp>;
  return isWaiting ? null : <Lamp tone="off">{approvalStrings.gone}</Lamp>;
}

/** A scheduled message has its time to send in `timestamp`. */
function timesOf({ timestamp, approval }: Message): [string, ReactNode][] {
  const { requestedAt = timestamp, expiresAt } = approval ?? {};
  return [
    [approvalStrings.asked, <Time key="asked" at={requestedAt} as="relative" />],
    [approvalStrings.expires, <Time key="expires" at={expiresAt ?? null} as="relative" />],
    ...(timestamp === requestedAt
      ? []
      : [[approvalStrings.sendAt, <SendAt key="at" at={timestamp} />] as [string, ReactNode]]),
  ];
}

function SendAt({ at }: { readonly at: string }) {
  const hasPassed = useNow() >= Date.parse(at);
  return (
    <>
      <Time at={at} />
      {hasPassed && ` (${approvalStrings.sendAtPassed})`}
    </>
  );
}

function useDecide(onDecided: (message: Message) => void, onClose?: () => void) {
  const refresh = useRefresh();
  const toast = useToast();
  return useMutation({
    mutationFn: (decide: () => Promise<Message>) => decide(),
    onSuccess: (message) => {
      onClose?.();
      onDecided(message);
    },
    onError: (error) => {
      // A form shows its errors itself, unless it closes because the message no longer waits.
      if (onClose === undefined || isConflict(error)) toast(errorText(error), 'bad');
    },
    onSettled: () => refresh('approvals', 'messages', 'chats'),
  });
}

const isConflict = (error: unknown) => error instanceof ApiError && error.status === 409;

interface DecisionFormProps {
  readonly onDecided: (message: Message) => void;
  readonly onClose: () => void;
}

function EditForm({ message, onDecided, onClose }: DecisionFormProps & { readonly message: Message }) {
  const { messageId, type } = message;
  const [text, setText] = useState(message.message);
  const decide = useDecide(onDecided, onClose);
  return (
    <Form
      submit={approvalStrings.approve}
      error={decide.error}
      busy={decide.isPending}
      disabled={type === 'text' && text.trim() === ''}
      onCancel={onClose}
      onSubmit={() => decide.mutate(() => api.messages.approve({ messageId, message: text }))}
    >
      <TextArea
        label={type === 'text' ? approvalStrings.text : approvalStrings.caption}
        required={type === 'text'}
        isOptional={type !== 'text'}
        autoFocus
        rows={8}
        maxLength={type === 'text' ? 65_536 : 4096}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
    </Form>
  );
}

function RejectForm({ messageId, onDecided, onClose }: DecisionFormProps & { readonly messageId: string }) {
  const [reason, setReason] = useState('');
  const decide = useDecide(onDecided, onClose);
  return (
    <Form
      submit={approvalStrings.reject}
      error={decide.error}
      busy={decide.isPending}
      onCancel={onClose}
      onSubmit={() =>
        decide.mutate(() => api.messages.reject({ messageId, ...(reason.trim() !== '' && { reason: reason.trim() }) }))
      }
    >
      <TextArea
        label={approvalStrings.reason}
        isOptional
        autoFocus
        rows={3}
        maxLength={500}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </Form>
  );
}
