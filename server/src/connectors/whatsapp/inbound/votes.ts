import { createHash } from 'node:crypto';
import type { proto, WAMessageKey } from 'baileys';
import type { Baileys } from '../link/load.ts';
import { unhosted } from '../people/addresses.ts';
import type { Self } from '../people/self.ts';
import { parseContent } from './incomingContent.ts';

/**
 * Decrypts a vote in a poll of the session. A vote is encrypted with the addresses of the voter and of the poll's
 * author, each of whom has two.
 * @param poll as it was sent, with its secret
 * @returns the chosen options; undefined if the vote is not encrypted with any of these addresses
 */
export function readVote(
  baileys: Baileys,
  vote: proto.Message.IPollEncValue,
  { id, message: poll, secret }: { id: string; message: proto.IMessage; secret: Uint8Array },
  key: WAMessageKey,
  self: Self,
): string[] | undefined {
  const own = Object.values(self.addresses);
  const voters = key.fromMe === true ? own : [key.participant, key.participantAlt, key.remoteJid, key.remoteJidAlt];
  for (const pollCreatorJid of own.map(baileys.jidNormalizedUser)) {
    for (const voter of voters) {
      if (!voter) continue;
      const voterJid = unhosted(baileys.jidNormalizedUser(voter));
      try {
        const sealedWith = { pollCreatorJid, pollMsgId: id, pollEncKey: secret, voterJid };
        const { selectedOptions } = baileys.decryptPollVote(vote, sealedWith);
        return optionsOf(baileys, poll, selectedOptions);
      } catch {
        // Not encrypted with these addresses.
      }
    }
  }
  return undefined;
}

/** A vote names the options by their hashes. */
function optionsOf(baileys: Baileys, poll: proto.IMessage, chosen: readonly Uint8Array[]): string[] {
  const hashes = new Set(chosen.map((hash) => Buffer.from(hash).toString('hex')));
  const options = parseContent(baileys, poll)?.content.poll?.options ?? [];
  return options.filter((option) => hashes.has(createHash('sha256').update(option).digest('hex')));
}
