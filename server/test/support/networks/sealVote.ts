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

/** Seals an answer to an event like a phone. @param response 1: comes, 2: does not come, 3: maybe */
export function sealAnswer(
  response: number,
  { eventId, secret, author, person }: { eventId: string; secret: Uint8Array; author: string; person: string },
) {
  const plain = proto.Message.EventResponseMessage.encode({ response, timestampMs: 1 }).finish();
  const first = createHmac('sha256', Buffer.alloc(32)).update(secret).digest();
  const key = createHmac('sha256', first).update(`${eventId}${author}${person}Event Response\u0001`).digest();
  const encIv = randomBytes(12);
  return { encPayload: aesEncryptGCM(plain, key, encIv, Buffer.from(`${eventId}\0${person}`)), encIv };
}
