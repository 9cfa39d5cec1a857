import { isoTime } from '../../clock.ts';
import type { NetworkChat } from '../../connectors/contract/messageKey.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { Tx } from '../../db/commit.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { groupIdOf } from '../groupStore.ts';
import type { Report } from '../reports.ts';
import type { SessionRef } from '../store.ts';

/* Reports of networks about people that become events and are not stored otherwise. */

interface Events {
  readonly emit: Emit;
}

export async function emitPresence({ emit }: Events, tx: Tx, session: SessionRef, event: Report<'presence'>) {
  const place = await placeOf(tx, session, event);
  if (place === undefined) return;
  const { presence, lastSeen, timestamp } = event;
  const data = {
    ...place.data,
    presence,
    ...(lastSeen !== undefined && { lastSeen: isoTime(lastSeen) }),
    timestamp: isoTime(timestamp),
  };
  emit(tx, { ...place.emission, kind: 'presence.updated', data });
}

export async function emitCall({ emit }: Events, tx: Tx, session: SessionRef, event: Report<'call' | 'call_ended'>) {
  const place = await placeOf(tx, session, event);
  if (place === undefined) return;
  const { callId, isVideo: video } = event;
  const data = { callId, ...place.data, video, timestamp: isoTime(event.timestamp) };
  if (event.type === 'call') emit(tx, { ...place.emission, kind: 'call.incoming', data });
  else emit(tx, { ...place.emission, kind: 'call.ended', data: { ...data, outcome: event.outcome } });
}

export async function emitNumberRequest(
  { emit }: Events,
  tx: Tx,
  session: SessionRef,
  event: Report<'number_requested'>,
) {
  const place = await placeOf(tx, session, event);
  if (place === undefined) return;
  const data = { ...place.data, timestamp: isoTime(event.timestamp) };
  emit(tx, { ...place.emission, kind: 'contact.number_request', data });
}

/** Returns undefined for a group that the session does not know. */
export async function placeOf(
  tx: Tx,
  session: SessionRef,
  { chat, from }: { readonly chat: NetworkChat; readonly from: string },
) {
  const { accountId, sessionId } = session;
  const chatId = chat.type === 'group' ? await groupIdOf(tx, session, chat.id) : chat.id;
  if (chatId === undefined) return undefined;
  const group = chat.type === 'group' && { groupId: chatId };
  const unidentified = isPlaceholder(from) && { unidentified: true as const };
  return {
    emission: { accountId, conversation: `${sessionId}/${chatId}` },
    data: { sessionId, chatId, ...group, from, ...unidentified },
  };
}
