import { createHash, createHmac, randomBytes } from 'node:crypto';
import { aesEncryptGCM, proto } from 'baileys';

/** Seals a vote like a phone: for the author of the poll, with its secret. */
export function sealVote(
  options: readonly string[],
  { pollId, secret, author, voter }: { pollId: string; secret: Uint8Array; author: string; voter: string },
) {
  const selectedOptions = options.map((option) => createHash('sha256').update(option).digest());
  const plain = proto.Message.PollVoteMessage.encode({ selectedOptions }).finish();
  const first = createHmac('sha256', Buffer.alloc(32)).update(secret).digest();
  const key = createHmac('sha256', first).update(`${pollId}${author}${voter}Poll Vote\u0001`).digest();
  const encIv = randomBytes(12);
  return { encPayload: aesEncryptGCM(plain, key, encIv, Buffer.from(`${pollId}\0${voter}`)), encIv };
}
