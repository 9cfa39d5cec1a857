import { isoTime } from '../../clock.ts';
import type { Tx } from '../../db/commit.ts';
import { partsWithinLimits } from '../../events/contentParts/contentParts.ts';
import { moment } from '../../events/contentParts/limits.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { storeChatAds } from '../chatAds.ts';
import { adColumn } from '../content.ts';
import type { Report, ReportHandlers } from '../reports.ts';
import type { SessionRef } from '../store.ts';
import { placeOf } from './activity.ts';

/* Reports about people who reach a business. They become events, and only the ad that led to a chat is stored. */

interface Events {
  readonly emit: Emit;
}

type CustomerReport = 'chat_opened' | 'call_permission' | 'marketing_choice';

export const customerReports: ReportHandlers<CustomerReport> = {
  chat_opened: emitOpening,
  call_permission: emitPermission,
  marketing_choice: emitMarketingChoice,
};

async function emitOpening({ emit }: Events, tx: Tx, session: SessionRef, event: Report<'chat_opened'>) {
  const place = await placeOf(tx, session, event);
  if (place === undefined) return;
  const { referral } = partsWithinLimits(event.referral === undefined ? {} : { referral: event.referral });
  const timestamp = isoTime(event.timestamp);
  const chat = { account_id: session.accountId, session_id: session.sessionId, chat_id: place.data.chatId };
  await storeChatAds(tx, [{ ...chat, ad_id: adColumn({ referral }) }]);
  emit(tx, {
    ...place.emission,
    kind: 'chat.opened',
    data: { ...place.data, ...(referral && { referral }), timestamp },
  });
}

async function emitPermission({ emit }: Events, tx: Tx, session: SessionRef, event: Report<'call_permission'>) {
  const place = await placeOf(tx, session, event);
  if (place === undefined) return;
  const until = event.expiresAt === undefined ? undefined : moment(event.expiresAt);
  const expiresAt = until === undefined ? null : isoTime(until);
  const data = { ...place.data, granted: event.isGranted, expiresAt, timestamp: isoTime(event.timestamp) };
  emit(tx, { ...place.emission, kind: 'call.permission', data });
}

async function emitMarketingChoice({ emit }: Events, tx: Tx, session: SessionRef, event: Report<'marketing_choice'>) {
  const place = await placeOf(tx, session, event);
  if (place === undefined) return;
  const data = { ...place.data, stopped: event.isStopped, timestamp: isoTime(event.timestamp) };
  emit(tx, { ...place.emission, kind: 'contact.marketing', data });
}
