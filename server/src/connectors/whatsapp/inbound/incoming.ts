import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { proto, WAMessage, WAMessageKey } from 'baileys';
import { settledWithin, sleep } from '../../../async.ts';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { MessageContent, NetworkEvent, NetworkMedia } from '../../connector.ts';
import { boomOf } from '../link/link.ts';
import type { Baileys } from '../link/load.ts';
import { toOwnId } from '../outbound/messageIds.ts';
import type { SentMessages } from '../outbound/sentMessages.ts';
import { type Addresses, unhosted } from '../people/addresses.ts';
import type { HeldReceipts } from './heldReceipts.ts';
import { type ParsedMedia, parseContent } from './incomingContent.ts';
import type { Journal, Received } from './journal.ts';

/** Carries what is in the journal to the host, each chat in its order. */
export interface Incoming {
  /** Passes a message on, however long the host needs to take it. */
  take(received: Received, isReplayed: boolean): void;
  /** Tries once more what could not be passed on: what it lacked may be there now. */
  tryAside(): void;
  /** Begins nothing any more, and waits a moment for what is under way. What is not done stays in the journal. */
  stop(): Promise<void>;
}

/** Who this session is, to the network: the phone number's address, and the LID's. */
export interface Self {
  readonly id: string;
  readonly lid: string;
  readonly phoneNumber: string;
}

const RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** What is at fault in a message itself, and no outage, is tried so often: it must not keep its chat for ever. */
const ATTEMPTS = 10;
/** A file is asked for so often; after that its message is passed on without it. */
const DOWNLOADS = 3;
/** After a while away each of hundreds of chats may begin with a film. */
const FILES_AT_ONCE = 4;
const STOP_MS = 3000;

export function createIncoming({
  baileys,
  journal,
  sent,
  heldReceipts,
  addresses,
  self,
  onEvent,
  knowGroup,
  download,
  clock,
  log,
}: {
  baileys: Baileys;
  journal: Journal;
  sent: SentMessages;
  heldReceipts: HeldReceipts;
  addresses: Addresses;
  self: () => Self | undefined;
  onEvent: (event: NetworkEvent) => Promise<void>;
  /** Makes sure that the host knows the group, before it gets a message from it. */
  knowGroup: (networkId: string) => Promise<void>;
  /** Opens a file of a message on the network's media host. */
  download: (message: WAMessage) => Promise<Readable>;
  clock: Clock;
  log: Log;
}): Incoming {
  const { proto } = baileys;
  const turns = new Map<string, Promise<void>>();
  const fetching = createSlots(FILES_AT_ONCE);
  let aside: Received[] = [];
  let isStopped = false;

  function take(received: Received, isReplayed: boolean, attempts = ATTEMPTS): void {
    const { from, recipient = from } = received.attrs;
    // Whatever device it came from. What the session's own number has sent elsewhere names its chat as the recipient.
    const chat = baileys.jidNormalizedUser(recipient);
    // Each chat waits for itself alone: the download of a film holds up nobody else but other files.
    const mine = (turns.get(chat) ?? Promise.resolve()).then(() => passOn(received, isReplayed, attempts));
    turns.set(chat, mine);
    mine.finally(() => {
      if (turns.get(chat) === mine) turns.delete(chat);
    });
  }

  /** Never fails: what cannot be stored now is tried again, and after a stop at the next start. */
  async function passOn(received: Received, isReplayed: boolean, attempts: number): Promise<void> {
    let faults = 0;
    for (let attempt = 0; !isStopped; attempt++) {
      try {
        await handle(received, isReplayed, attempt < DOWNLOADS);
        journal.done(received);
        heldReceipts.settle(received.attrs['id'] ?? '');
        return;
      } catch (error) {
        const about = { err: error, message: received.attrs['id'], attempt };
        if (!isOutage(error)) faults++;
        if (faults >= attempts) {
          aside.push(received);
          heldReceipts.settle(received.attrs['id'] ?? '');
          return log.error(about, 'failed to store a message; trying again at the next connection');
        }
        log.warn(about, 'failed to store a message; trying again');
        await sleep(clock, Math.min(RETRY_MS * 2 ** attempt, LONGEST_RETRY_MS));
      }
    }
  }

  async function handle({ attrs, message }: Received, isReplayed: boolean, withFile: boolean): Promise<void> {
    const own = self();
    if (own === undefined) throw new Error('a message came before the session knew who it is');
    const { fullMessage } = baileys.decodeMessageNode({ tag: 'message', attrs: { ...attrs } }, own.id, own.lid);
    const { key } = fullMessage;
    // Of a list of people, Baileys knows the own number only by one of its two addresses.
    const isOwn = key.fromMe === true || (key.participant ? isSelf(key.participant, own) : false);
    const decoded = proto.Message.decode(message);
    const meant = decoded.deviceSentMessage?.message ?? decoded;
    const whole = baileys.normalizeMessageContent(meant) ?? meant;
    const chat = await (isOwn ? ownChatOf(key, attrs, own) : chatOf(key));
    if (chat === undefined) return;
    const from = isOwn
      ? own.phoneNumber
      : await addresses.digitsOf(key.participant || key.remoteJid || '', key.participantAlt || key.remoteJidAlt);
    const timestamp = Number(fullMessage.messageTimestamp) * 1000;
    const change = await changeOf(whole, key, from, timestamp, own);
    if (change !== undefined)
      return onEvent(change.type === 'reaction' || change.type === 'vote' ? { ...change, chat } : change);
    const parsed = parseContent(baileys, whole);
    if (parsed === undefined) return;
    if (chat.type === 'group') await knowGroup(chat.id);
    if (isOwn && parsed.content.poll !== undefined) await keepPoll(key.id ?? '', whole, [whole, meant, decoded]);
    const { context } = parsed;
    const mentions = await Promise.all((context?.mentionedJid ?? []).map((jid) => addresses.digitsOf(jid)));
    const media =
      parsed.media !== undefined && withFile ? fileOf({ ...fullMessage, message: whole }, parsed.media) : undefined;
    const content: MessageContent = {
      ...parsed.content,
      ...(mentions.length > 0 && { mentions }),
      ...(context?.isForwarded === true && { isForwarded: true }),
      ...(media && { media }),
    };
    const event: NetworkEvent = {
      type: 'message',
      networkId: ownOrTheirs(key.id ?? '', isOwn),
      chat,
      from,
      ...(isOwn ? { isOwn } : fullMessage.pushName && { senderName: fullMessage.pushName }),
      content,
      timestamp,
      replyTo: context?.stanzaId ? ownOrTheirs(context.stanzaId, isSelf(context.participant, own)) : null,
      ...(isReplayed && { isReplayed }),
    };
    if (media === undefined) return onEvent(event);
    // The host reads the file before it has stored the event.
    await fetching(() => {
      if (isStopped) throw new Error('the session ended before the file was fetched');
      return onEvent(event);
    });
  }

  /** A message to a list of people is to each of them a direct one; stories and channels are none. */
  async function chatOf({ remoteJid, remoteJidAlt, participant, participantAlt }: WAMessageKey) {
    if (!remoteJid || baileys.isJidStatusBroadcast(remoteJid) || baileys.isJidNewsletter(remoteJid)) return undefined;
    if (baileys.isJidBroadcast(remoteJid))
      return participant ? addresses.chatOf(participant, participantAlt) : undefined;
    return addresses.chatOf(remoteJid, remoteJidAlt);
  }

  /**
   * The chat of what the own number has sent from another device; undefined for what devices tell one another, or Meta's
   * assistant. What is sent to a list of people, the network tells the devices of the list, and not of the people.
   */
  async function ownChatOf({ remoteJid }: WAMessageKey, attrs: Received['attrs'], own: Self) {
    const { recipient } = attrs;
    if (!remoteJid || baileys.isJidBroadcast(remoteJid) || baileys.isJidNewsletter(remoteJid)) return undefined;
    if (baileys.isJidGroup(remoteJid)) return addresses.chatOf(remoteJid);
    if (recipient === undefined || baileys.isJidMetaAI(recipient)) return undefined;
    if (isSelf(remoteJid, own)) return { type: 'direct', id: own.phoneNumber } as const;
    return addresses.chatOf(remoteJid, attrs['peer_recipient_pn']);
  }

  /** Votes in a poll that the own number has asked elsewhere come here as well, and are read with its secret. */
  async function keepPoll(wireId: string, poll: proto.IMessage, layers: readonly proto.IMessage[]): Promise<void> {
    // The secret stands on one of the messages that this one was wrapped in, or on itself.
    const messageContextInfo = layers.find((layer) => layer.messageContextInfo)?.messageContextInfo;
    await sent.keep(wireId, { ...poll, ...(messageContextInfo && { messageContextInfo }) });
  }

  /** What happens to a message that is there already. */
  async function changeOf(
    whole: proto.IMessage,
    key: WAMessageKey,
    from: string,
    timestamp: number,
    own: Self,
  ): Promise<NetworkEvent | undefined> {
    const { reactionMessage, protocolMessage, pollUpdateMessage } = whole;
    if (reactionMessage) {
      const networkId = targetOf(reactionMessage.key, key, own);
      return { type: 'reaction', networkId, from, emoji: reactionMessage.text || null, timestamp };
    }
    if (protocolMessage) {
      const { id, participant, fromMe } = protocolMessage.key ?? {};
      // In a group, what an admin deletes may be ours.
      const isOurs = key.fromMe === true ? fromMe === true : Boolean(participant) && isSelf(participant, own);
      const networkId = ownOrTheirs(id ?? '', isOurs);
      if (protocolMessage.type === proto.Message.ProtocolMessage.Type.REVOKE)
        return { type: 'deleted', networkId, from, timestamp };
      const text = protocolMessage.editedMessage && parseContent(baileys, protocolMessage.editedMessage)?.content.text;
      return text ? { type: 'edited', networkId, from, text, timestamp } : undefined;
    }
    return pollUpdateMessage ? voteOf(pollUpdateMessage, key, from, timestamp, own) : undefined;
  }

  /** Whose message a key means is said as its writer sees it: what is not the writer's is, in a direct chat, ours. */
  function targetOf(target: proto.IMessageKey | null | undefined, key: WAMessageKey, own: Self): string {
    if (key.fromMe === true) return ownOrTheirs(target?.id ?? '', target?.fromMe === true);
    const isOurs = target?.participant ? isSelf(target.participant, own) : target?.fromMe !== true;
    return ownOrTheirs(target?.id ?? '', isOurs || (key.participant === undefined && target?.fromMe !== true));
  }

  async function voteOf(
    { vote, pollCreationMessageKey: target }: proto.Message.IPollUpdateMessage,
    key: WAMessageKey,
    from: string,
    timestamp: number,
    own: Self,
  ): Promise<NetworkEvent | undefined> {
    const wireId = target?.id;
    const poll = wireId ? await sent.find(wireId) : undefined;
    const secret = poll?.messageContextInfo?.messageSecret;
    // A poll of somebody else: who votes in it tells its author, and its author alone can read that.
    if (!wireId || !vote || !poll || !secret) return undefined;
    const hashes = openVote(vote, wireId, secret, key, own);
    if (hashes === undefined) {
      log.warn({ poll: wireId }, 'failed to decrypt a vote');
      return undefined;
    }
    const options = parseContent(baileys, poll)?.content.poll?.options ?? [];
    return {
      type: 'vote',
      networkId: toOwnId(wireId),
      from,
      options: options.filter((option) => hashes.has(createHash('sha256').update(option).digest('hex'))),
      timestamp,
    };
  }

  /** A vote is sealed with the addresses of both sides, of which each has two. @returns hashes of what was chosen */
  function openVote(
    vote: proto.Message.IPollEncValue,
    pollMsgId: string,
    pollEncKey: Uint8Array,
    key: WAMessageKey,
    own: Self,
  ): ReadonlySet<string> | undefined {
    const voters =
      key.fromMe === true ? [own.id, own.lid] : [key.participant, key.participantAlt, key.remoteJid, key.remoteJidAlt];
    for (const pollCreatorJid of [own.id, own.lid].map(baileys.jidNormalizedUser)) {
      for (const voter of voters) {
        if (!voter) continue;
        const voterJid = unhosted(baileys.jidNormalizedUser(voter));
        try {
          const { selectedOptions } = baileys.decryptPollVote(vote, {
            pollCreatorJid,
            pollMsgId,
            pollEncKey,
            voterJid,
          });
          return new Set(selectedOptions.map((hash) => Buffer.from(hash).toString('hex')));
        } catch {
          // Not sealed with these addresses.
        }
      }
    }
    return undefined;
  }

  function isSelf(jid: string | null | undefined, own: Self): boolean {
    return baileys.areJidsSameUser(jid ?? undefined, own.id) || baileys.areJidsSameUser(jid ?? undefined, own.lid);
  }

  function fileOf(message: WAMessage, { mimeType, size, fileName, file }: ParsedMedia): NetworkMedia | undefined {
    if (file === undefined) {
      log.warn({ message: message.key.id }, 'message has an incomplete file; storing it without the file');
      return undefined;
    }
    return { mimeType, size, fileName, open: () => download(message) };
  }

  return {
    take,
    tryAside() {
      const again = aside;
      aside = [];
      for (const received of again) take(received, true, 1);
    },
    async stop() {
      isStopped = true;
      await settledWithin(clock, STOP_MS, Promise.all(turns.values()));
    },
  };
}

/** Does so many things at a time. The others wait, and begin in their order. */
function createSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work: () => Promise<void>): Promise<void> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** Of the database, which is told in the words of the API, or of the network. */
function isOutage(error: unknown): boolean {
  return error instanceof AppError || OUTAGES.has(boomOf(error).statusCode);
}
const OUTAGES: ReadonlySet<number | undefined> = new Set([408, 428, 429, 503]);

/** A message that the session has sent is known by our id of it. */
const ownOrTheirs = (wireId: string, isOurs: boolean) => (isOurs ? toOwnId(wireId) : wireId);
