import { createHash } from 'node:crypto';
import type { proto, WAMessageKey } from 'baileys';
import type { Baileys } from '../link/load.ts';
import { toOwnId } from '../outbound/messageIds.ts';
import { findSent } from '../outbound/sentMessages.ts';
import { unhosted } from '../people/addresses.ts';
import type { Session } from '../session.ts';
import { parseContent } from './incomingContent.ts';

/**
 * A vote is encrypted with the addresses of the voter and of the poll's author, each of whom has two.
 * @returns our id of the poll and the chosen options; undefined if the vote cannot be read
 */
export async function readVote(
  session: Session,
  { vote, pollCreationMessageKey: target }: proto.Message.IPollUpdateMessage,
  key: WAMessageKey,
): Promise<{ networkId: string; options: string[] } | undefined> {
  const { baileys, self, host } = session;
  const pollMsgId = target?.id;
  const poll = pollMsgId ? await findSent(session, pollMsgId) : undefined;
  const pollEncKey = poll?.messageContextInfo?.messageSecret;
  // Only the author of a poll can read a vote in it.
  if (!pollMsgId || !vote || !poll || !pollEncKey) return undefined;
  const own = Object.values(self.addresses);
  const voters = key.fromMe === true ? own : [key.participant, key.participantAlt, key.remoteJid, key.remoteJidAlt];
  for (const pollCreatorJid of own.map(baileys.jidNormalizedUser)) {
    for (const voter of voters) {
      if (!voter) continue;
      const voterJid = unhosted(baileys.jidNormalizedUser(voter));
      try {
        const { selectedOptions } = baileys.decryptPollVote(vote, { pollCreatorJid, pollMsgId, pollEncKey, voterJid });
        return { networkId: toOwnId(pollMsgId), options: optionsOf(baileys, poll, selectedOptions) };
      } catch {
        // Not encrypted with these addresses.
      }
    }
  }
  host.log.warn({ poll: pollMsgId }, 'failed to decrypt a vote');
  return undefined;
}

/** A vote names the options by their hashes. */
function optionsOf(baileys: Baileys, poll: proto.IMessage, chosen: readonly Uint8Array[]): string[] {
  const hashes = new Set(chosen.map((hash) => Buffer.from(hash).toString('hex')));
  const options = parseContent(baileys, poll)?.content.poll?.options ?? [];
  return options.filter((option) => hashes.has(createHash('sha256').update(option).digest('hex')));
}
