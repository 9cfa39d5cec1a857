import { createHash, randomBytes } from 'node:crypto';
import type { proto, WAMessageKey } from 'baileys';
import { AppError } from '../../../errors.ts';
import type { Vote } from '../../contract/contentParts.ts';
import { findPoll } from '../sealed/polls.ts';
import type { Session } from '../session.ts';

/**
 * Seals a vote for the author of a poll: with a key derived from the secret of the poll and the addresses of the author
 * and the voter. Baileys has only the other direction.
 * @param key the key of the poll
 * @throws {AppError} `message_state` if its secret is not known
 */
export async function toVote(session: Session, key: WAMessageKey, { options }: Vote): Promise<proto.IMessage> {
  const { baileys, self, host } = session;
  const pollId = key.id ?? '';
  const poll = await findPoll(session, key, pollId);
  const author = poll && authorOf(session, poll.authors);
  if (poll === undefined || author === undefined)
    throw new AppError(
      'message_state',
      'The session cannot vote in this poll: it arrived before the session could, or too many polls arrived since',
    );
  // The own address of the same kind as that of the author.
  const { id, lid } = self.addresses;
  const voter = baileys.jidNormalizedUser(baileys.isLidUser(author) && lid !== '' ? lid : id);
  const selectedOptions = options.map((option) => createHash('sha256').update(option).digest());
  const plain = baileys.proto.Message.PollVoteMessage.encode({ selectedOptions }).finish();
  const sealed = Buffer.concat([
    ...[pollId, author, voter, 'Poll Vote'].map((part) => Buffer.from(part)),
    Buffer.of(1),
  ]);
  const first = baileys.hmacSign(poll.secret, new Uint8Array(32), 'sha256');
  const encIv = randomBytes(12);
  const encPayload = baileys.aesEncryptGCM(
    plain,
    baileys.hmacSign(sealed, first, 'sha256'),
    encIv,
    Buffer.from(`${pollId}\0${voter}`),
  );
  return {
    pollUpdateMessage: {
      pollCreationMessageKey: key,
      vote: { encPayload, encIv },
      senderTimestampMs: host.clock.now(),
    },
  };
}

/** The address under which the poll arrived. Of an own one, that of the phone number. */
function authorOf({ baileys, self }: Session, authors: readonly string[]): string | undefined {
  const [first] = authors;
  return first !== undefined && self.is(first) ? baileys.jidNormalizedUser(self.addresses.id) : first;
}
