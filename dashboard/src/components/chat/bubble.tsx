import type { Message } from '@switchboard/sdk/api';
import { MapPin, Pin, Star } from 'lucide-react';
import type { ReactNode } from 'react';
import { useKeyNames } from '../../model/apiKeys.ts';
import { displayName } from '../../model/displayName.ts';
import { textWithNames } from '../../model/mentions.ts';
import { messagePreview } from '../../model/messageList.ts';
import type { NameOf } from '../../model/names.ts';
import { chatStrings, messageStrings } from '../../strings/chats.ts';
import { classes } from '../classes.ts';
import { Time } from '../text/time.tsx';
import { Choices, Template } from './choices.tsx';
import { Kind, Marks } from './kinds.tsx';
import { LongText } from './longText.tsx';
import { LivePhoto, MediaView, RemoteFile } from './mediaView.tsx';
import { Ticks } from './ticks.tsx';

interface BubbleProps {
  readonly message: Message;
  /** Whether the reader's side wrote it, which puts it on the right. */
  readonly isOwn: boolean;
  readonly isFound: boolean;
  /** The message that this one replies to, if it has been read. */
  readonly repliedTo: Message | undefined;
  readonly nameOf: NameOf;
  readonly actions?: ReactNode;
}

/** The quoted message as the reply describes it, with a note if it is a status. */
function quotedPreview(quoted: Message['quoted']): string {
  const text = quoted?.text || messageStrings.earlier;
  return quoted?.isStatus ? messageStrings.status(text) : text;
}

/** One message. Third parties wrote it, so it is rendered as plain text only. */
export function Bubble({ message, isOwn, isFound, repliedTo, nameOf, actions }: BubbleProps) {
  const { direction, type, replyTo, timestamp, status, edited, forwarded, deleted, error, chatId } = message;
  const { starred, pinnedUntil, quoted } = message;
  const isGroup = chatId.startsWith('grp_');
  return (
    <div className={classes('flex items-center gap-1', isOwn && 'flex-row-reverse')}>
      <div
        className={classes(
          'min-w-0 max-w-[min(34rem,80%)] rounded-2xl border px-3.5 py-2 text-sm',
          isOwn ? 'rounded-br-md border-transparent bg-accent-soft' : 'rounded-bl-md border-line bg-surface',
          isFound && 'outline-2 outline-warn-lamp',
        )}
      >
        {isGroup && !isOwn && <p className="text-xs font-medium text-accent">{nameOf(message.from)}</p>}
        {forwarded && <p className="text-xs text-ink-faint italic">{messageStrings.forwarded}</p>}
        {(replyTo !== undefined || quoted !== undefined) && (
          <blockquote className="mb-1.5 truncate border-l-2 border-accent pl-2 text-xs text-ink-soft">
            {repliedTo === undefined ? quotedPreview(quoted) : messagePreview(repliedTo, messageStrings, nameOf)}
          </blockquote>
        )}
        {deleted ? (
          <p className="text-ink-faint italic">{messageStrings.deleted}</p>
        ) : (
          <div className="grid grid-cols-1 gap-1.5">
            <Marks message={message} />
            <Extra message={message} nameOf={nameOf} />
            {message.message !== '' && (
              <LongText
                text={textWithNames(message, nameOf)}
                className={classes('wrap-anywhere whitespace-pre-wrap', TITLED.includes(type) && 'font-medium')}
              />
            )}
            <Poll message={message} />
            <Template message={message} />
            <Choices message={message} />
            <Kind message={message} nameOf={nameOf} />
          </div>
        )}
        {error !== undefined && <p className="mt-1 text-xs text-bad">{error}</p>}
        {status !== undefined && WAITING.includes(status) && message.createdByKeyId !== undefined && (
          <CreatedBy keyId={message.createdByKeyId} />
        )}
        <p className="mt-0.5 flex items-center justify-end gap-1.5 text-xs text-ink-faint">
          {pinnedUntil !== undefined && <Pin role="img" aria-label={messageStrings.pinned} className="size-3" />}
          {starred && <Star role="img" aria-label={messageStrings.starred} className="size-3" />}
          {edited && <span>{messageStrings.edited}</span>}
          {status === 'pending_approval' && <span>{messageStrings.statuses[status]}</span>}
          <Time at={timestamp} as="clock" />
          {direction === 'outgoing' && <Ticks status={status} />}
        </p>
        <Reactions message={message} nameOf={nameOf} />
      </div>
      {actions}
    </div>
  );
}

/** Statuses of messages that are still to be sent. The approvals page shows the key of those that wait for approval. */
const WAITING: readonly Message['status'][] = ['scheduled', 'queued'];

/** The API key that created a message. */
function CreatedBy({ keyId }: { readonly keyId: string }) {
  const keyNameOf = useKeyNames();
  return <p className="mt-1 text-xs text-ink-faint wrap-anywhere">{messageStrings.createdBy(keyNameOf(keyId))}</p>;
}

/** The text of these is a title. */
const TITLED: readonly Message['type'][] = ['poll', 'event'];

/** The content above the text. */
function Extra({ message, nameOf }: { readonly message: Message; readonly nameOf: NameOf }) {
  const { media, livePhoto, remoteMedia, location, contact, contacts } = message;
  if (media !== undefined)
    return (
      <>
        {/* A better file replaces the first one. */}
        <MediaView key={media.mediaId} media={media} message={message} />
        {livePhoto !== undefined && <LivePhoto key={livePhoto.mediaId} video={livePhoto} />}
      </>
    );
  if (remoteMedia !== undefined) return <RemoteFile message={message} />;
  if (location !== undefined) {
    const { latitude, longitude, name, address } = location;
    return (
      <div className="flex items-start gap-2">
        <MapPin aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
        <div className="wrap-anywhere">
          {name !== undefined && <p className="font-medium">{name}</p>}
          {address !== undefined && <p>{address}</p>}
          <p className="font-mono text-xs text-ink-faint">
            {latitude}, {longitude}
          </p>
        </div>
      </div>
    );
  }
  if (contact !== undefined && contacts === undefined) {
    return (
      <div className="rounded-lg border border-line-strong px-3 py-1.5 wrap-anywhere">
        <p className="font-medium">{displayName(contact.name)}</p>
        <p className="text-xs text-ink-soft">{contact.phoneNumbers.map(nameOf).join(', ')}</p>
      </div>
    );
  }
  return null;
}

function Poll({ message: { poll, votes = [] } }: { readonly message: Message }) {
  if (poll === undefined) return null;
  return (
    <ul aria-label={messageStrings.poll} className="grid gap-1">
      {poll.options.map((option) => (
        <li key={option} className="flex justify-between gap-4 rounded-lg border border-line-strong px-2.5 py-1">
          <span className="wrap-anywhere">{option}</span>
          <span className="text-xs whitespace-nowrap text-ink-faint">
            {messageStrings.votes(votes.filter(({ options }) => options.includes(option)).length)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Reactions({ message: { reactions = [] }, nameOf }: { readonly message: Message; readonly nameOf: NameOf }) {
  if (reactions.length === 0) return null;
  return (
    <ul className="mt-1 flex flex-wrap gap-1">
      {reactions.map(({ from, emoji }) => (
        <li
          key={from}
          title={messageStrings.reactedBy(emoji, nameOf(from))}
          className="rounded-full border border-line bg-surface px-1.5 text-sm"
        >
          <span aria-hidden>{emoji}</span>
          <span className="sr-only">{messageStrings.reactedBy(emoji, nameOf(from))}</span>
        </li>
      ))}
    </ul>
  );
}

/** Names the author of a message for screen readers. */
export function bubbleLabel(message: Message, isOwn: boolean, nameOf: NameOf): string {
  if (isOwn) return messageStrings.you;
  return message.direction === 'outgoing' ? chatStrings.session : nameOf(message.from);
}
