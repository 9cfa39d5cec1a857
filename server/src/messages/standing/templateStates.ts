import { isoTime } from '../../clock.ts';
import type { NetworkEvent } from '../../connectors/contract/events.ts';
import type { Tx } from '../../db/commit.ts';
import type { Emit } from '../../webhooks/log/emit.ts';
import { findSession, type SessionRef } from '../store.ts';

type Report = Extract<NetworkEvent, { type: 'template_updated' }>;
type State = Pick<Report, 'status' | 'category' | 'quality' | 'reason'>;

/** More than the network allows a business account. Beyond it, a repeated report emits a repeated event. */
const MAX_TEMPLATES = 10_000;
const ID_CHARACTERS = 100;
const NAME_CHARACTERS = 512;
const REASON_CHARACTERS = 1000;

/** Emits that a template changed, and stores the report, so that a repeated one emits nothing. */
export async function storeTemplateState(
  { emit }: { readonly emit: Emit },
  tx: Tx,
  session: SessionRef,
  report: Report,
): Promise<void> {
  const { accountId, sessionId } = session;
  if ((await findSession(tx, session)) === undefined) return;
  const templateId = report.templateId.slice(0, ID_CHARACTERS);
  const before = await stateOf(tx, session, templateId);
  const after: State = { ...before, ...withinLimits(report) };
  const changed = (['status', 'category', 'quality'] as const).filter((name) => after[name] !== before?.[name]);
  if (changed.length === 0 && after.reason === before?.reason) return;
  await keep(tx, session, templateId, after, report.timestamp);
  const data = {
    sessionId,
    templateId,
    name: report.name.slice(0, NAME_CHARACTERS),
    language: report.language.slice(0, ID_CHARACTERS),
    status: after.status ?? null,
    previousStatus: before?.status ?? null,
    category: after.category ?? null,
    quality: after.quality ?? null,
    reason: after.reason ?? null,
    timestamp: isoTime(report.timestamp),
  };
  emit(tx, { accountId, kind: 'template.updated', data, conversation: sessionId });
}

async function stateOf(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  templateId: string,
): Promise<State | undefined> {
  const row = await kysely
    .selectFrom('template_states')
    .select('state')
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('template_id', '=', templateId)
    .executeTakeFirst();
  return row && JSON.parse(row.state);
}

/** The state of a deleted template stays, because the network may repeat that as well. */
async function keep(
  { kysely }: Tx,
  { accountId, sessionId }: SessionRef,
  templateId: string,
  state: State,
  at: number,
) {
  const text = JSON.stringify(state);
  const { numUpdatedRows } = await kysely
    .updateTable('template_states')
    .set({ state: text, updated_at: at })
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .where('template_id', '=', templateId)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const { count } = await kysely
    .selectFrom('template_states')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= MAX_TEMPLATES) return;
  const row = { session_id: sessionId, template_id: templateId, account_id: accountId, state: text, updated_at: at };
  await kysely.insertInto('template_states').values(row).execute();
}

/** A report of an approval removes the reason of an earlier rejection. */
function withinLimits({ status, category, quality, reason }: Report): State {
  return {
    ...(status !== undefined && { status: status.slice(0, ID_CHARACTERS) }),
    ...(category !== undefined && { category: category.slice(0, ID_CHARACTERS) }),
    ...(quality !== undefined && { quality }),
    ...((status !== undefined || reason !== undefined) && { reason: reason?.slice(0, REASON_CHARACTERS) }),
  } as State;
}
