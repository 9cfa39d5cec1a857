import type { proto } from 'baileys';
import { namesOf } from '../../../objects.ts';
import type { Baileys } from '../link/load.ts';

type Message = proto.IMessage;
type Kind = keyof Message;

/**
 * Kinds that a client sends for other clients, and nobody writes: keys, settings, state, and changes of other messages.
 * Every other kind becomes a message, even one that is unknown here. A test keeps the list complete.
 */
export const INTERNAL_KINDS: ReadonlySet<Kind> = new Set<Kind>([
  // Keys of a group, which precede a message.
  'senderKeyDistributionMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
  // Deletions and edits, which are read separately, and the state that the devices of a person share.
  'protocolMessage',
  'deviceSentMessage',
  'stickerSyncRmrMessage',
  // Facts about the message that they are a part of.
  'messageContextInfo',
  // Changes of messages, which are read apart.
  'reactionMessage',
  'encReactionMessage',
  'pollUpdateMessage',
  'encEventResponseMessage',
  'secretEncryptedMessage',
  'keepInChatMessage',
  // Notices about a status or a number, which are read apart.
  'statusMentionMessage',
  'groupStatusMentionMessage',
  'requestPhoneNumberMessage',
  'pinInChatMessage',
  'scheduledCallEditMessage',
  // The head of an album: its files arrive as messages of their own.
  'albumMessage',
  // Calls are reported apart.
  'call',
  'callLogMesssage',
  'bcallMessage',
  // History and settings of a chat.
  'chat',
  'messageHistoryBundle',
  'messageHistoryNotice',
  'limitSharingMessage',
]);

/** Kinds that only wrap another message. */
const WRAPPERS = [
  'ephemeralMessage',
  'viewOnceMessage',
  'viewOnceMessageV2',
  'viewOnceMessageV2Extension',
  'documentWithCaptionMessage',
  'editedMessage',
  'associatedChildMessage',
  'groupStatusMessage',
  'groupStatusMessageV2',
  'groupMentionedMessage',
  'botInvokeMessage',
  'botForwardedMessage',
  'botTaskMessage',
  'lottieStickerMessage',
  'pollCreationMessageV4',
  'questionMessage',
  'questionReplyMessage',
] as const satisfies readonly Kind[];
type Wrapper = (typeof WRAPPERS)[number];

export const WRAPPER_KINDS: ReadonlySet<Kind> = new Set(WRAPPERS);

const VIEW_ONCE: ReadonlySet<Wrapper> = new Set<Wrapper>([
  'viewOnceMessage',
  'viewOnceMessageV2',
  'viewOnceMessageV2Extension',
]);
/** Maximum number of layers that are unwrapped. */
export const MAX_DEPTH = 8;

export interface Unwrapped {
  readonly message: Message;
  readonly isViewOnce: boolean;
  readonly isAnimated: boolean;
  /** The message and everything around it, from the outside. */
  readonly layers: readonly Message[];
}

export function unwrap(whole: Message): Unwrapped {
  const layers = [whole];
  const found = new Set<Wrapper>();
  let message = whole;
  while (layers.length < MAX_DEPTH) {
    const wrapper = WRAPPERS.find((one) => message[one]?.message);
    const inner = wrapper && message[wrapper]?.message;
    if (wrapper === undefined || !inner) break;
    found.add(wrapper);
    layers.push(inner);
    message = inner;
  }
  return {
    message,
    isViewOnce: [...found].some((one) => VIEW_ONCE.has(one)),
    isAnimated: found.has('lottieStickerMessage'),
    layers,
  };
}

/** The kind of a message that is not wrapped; undefined if nobody wrote it. */
export function kindOf(message: Message): Kind | undefined {
  return namesOf(message).find(
    (kind) =>
      message[kind] !== null && message[kind] !== undefined && !INTERNAL_KINDS.has(kind) && !isEmptyWrapper(kind),
  );
}

const isEmptyWrapper = (kind: Kind) => WRAPPER_KINDS.has(kind);

/** Name of a kind that the decoder left out. */
const UNKNOWN = 'unknown';

/**
 * Returns a name for a message without a known kind, or undefined if all of its kinds are internal. A message without
 * any kind has one that the decoder left out: nobody sends an empty message.
 */
export function strangeKindOf({ message, layers }: Unwrapped): string | undefined {
  const kinds = presentIn(message);
  if (kinds.length > 0) return kinds.find(isEmptyWrapper);
  const around = layers.at(-2);
  return (around && presentIn(around).find(isEmptyWrapper)) ?? UNKNOWN;
}

const presentIn = (message: Message) =>
  namesOf(message).filter(
    (kind) => kind !== 'messageContextInfo' && message[kind] !== null && message[kind] !== undefined,
  );

/** Whether a message is a sealed change of a kind that is read here. */
export function isSealedChange({ proto }: Baileys, message: Message): boolean {
  const { EVENT_EDIT, MESSAGE_EDIT } = proto.Message.SecretEncryptedMessage.SecretEncType;
  const type = message.secretEncryptedMessage?.secretEncType;
  return Boolean(message.encReactionMessage) || type === EVENT_EDIT || type === MESSAGE_EDIT;
}
