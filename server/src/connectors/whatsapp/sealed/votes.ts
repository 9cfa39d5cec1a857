import { createHash } from 'node:crypto';
import type { proto, WAMessageKey } from 'baileys';
import type { EventAnswer } from '../../contract/contentParts.ts';
import { toOwnId } from '../outbound/messageIds.ts';
import { unhosted } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { secretIdOf } from './messageSecrets.ts';
import { findPoll, type StoredPoll } from './polls.ts';

/** Id (see `secretIdOf`) of the poll or event, which may still arrive. */
interface Early {
  readonly waitsFor: string;
}

/**
 * A vote is encrypted with the addresses of the voter and of the poll's author, each of whom has two.
 * @returns the id of the poll and the chosen options; undefined if the vote cannot be read
 */
export async function readVote(
  session: Session,
  { vote, pollCreationMessageKey: target }: proto.Message.IPollUpdateMessage,
  key: WAMessageKey,
): Promise<{ networkId: string; options: string[] } | Early | undefined> {
  const { baileys, host } = session;
  const pollMsgId = target?.id;
  if (!pollMsgId || !vote) return undefined;
  const poll = await findPoll(session, key, pollMsgId);
  if (poll === undefined) return { waitsFor: secretIdOf(session, key, pollMsgId) };
  const pollEncKey = poll.secret;
  const opened = decryptWithAny(session, poll, key, (pollCreatorJid, voterJid) =>
    baileys.decryptPollVote(vote, { pollCreatorJid, pollMsgId, pollEncKey, voterJid }),
  );
  if (opened !== undefined)
    return {
      networkId: idOf(session, poll, pollMsgId),
      options: optionsOf(poll, opened.selectedOptions),
    };
  host.log.warn({ poll: pollMsgId }, 'failed to decrypt a vote');
  return undefined;
}

const ANSWERS: readonly (EventAnswer | undefined)[] = [undefined, 'going', 'not_going', 'maybe'];

/** Reads whether somebody comes to an event. Returns undefined if the answer cannot be read. */
export async function readEventAnswer(
  session: Session,
  response: proto.Message.IEncEventResponseMessage,
  key: WAMessageKey,
): Promise<{ networkId: string; answer: EventAnswer } | Early | undefined> {
  const { baileys, host } = session;
  const eventMsgId = response.eventCreationMessageKey?.id;
  const { encPayload, encIv } = response;
  if (!eventMsgId || !encPayload || !encIv) return undefined;
  const event = await findPoll(session, key, eventMsgId);
  if (event === undefined) return { waitsFor: secretIdOf(session, key, eventMsgId) };
  const eventEncKey = event.secret;
  const opened = decryptWithAny(session, event, key, (eventCreatorJid, responderJid) =>
    baileys.decryptEventResponse({ encPayload, encIv }, { eventCreatorJid, eventMsgId, eventEncKey, responderJid }),
  );
  const answer = ANSWERS[opened?.response ?? 0];
  if (answer !== undefined) return { networkId: idOf(session, event, eventMsgId), answer };
  host.log.warn({ event: eventMsgId }, 'failed to decrypt an answer to an event');
  return undefined;
}

/** Tries the addresses of the author and of the person who answers. Returns undefined if none fits. */
function decryptWithAny<T>(
  { baileys, self }: Session,
  { authors }: StoredPoll,
  key: WAMessageKey,
  decrypt: (authorJid: string, personJid: string) => T,
): T | undefined {
  const own = Object.values(self.addresses);
  const people = key.fromMe === true ? own : [key.participant, key.participantAlt, key.remoteJid, key.remoteJidAlt];
  for (const author of authors) {
    for (const person of people) {
      if (!person) continue;
      try {
        return decrypt(author, unhosted(baileys.jidNormalizedUser(person)));
      } catch {
        // Not encrypted with these addresses.
      }
    }
  }
  return undefined;
}

/** A message of the session is known by our id. */
function idOf({ self }: Session, { authors }: StoredPoll, wireId: string): string {
  return authors.some((jid) => self.is(jid)) ? toOwnId(wireId) : wireId;
}

/** A vote names the options by their hashes. */
function optionsOf({ options }: StoredPoll, chosen: readonly Uint8Array[]): string[] {
  const hashes = new Set(chosen.map((hash) => Buffer.from(hash).toString('hex')));
  return options.filter((option) => hashes.has(createHash('sha256').update(option).digest('hex')));
}
