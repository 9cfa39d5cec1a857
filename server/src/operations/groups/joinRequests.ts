import { isoTime } from '../../clock.ts';
import type { JoinRequest } from '../../connectors/contract/groupActions.ts';
import { isPlaceholder } from '../../connectors/contract/people.ts';
import type { GroupTable } from '../../db/schema.ts';
import { boolean, entries, object, oneOf, onlyTrue, optional, string, time } from '../../invoke/input/fields.ts';
import { type Context, defineOperation } from '../../invoke/operation.ts';
import { adoptJoinRequests, endJoinRequest } from '../../messages/groups/joinRequests.ts';
import { changing, findGroup, GroupId, PhoneNumbers } from './groups.ts';

export const listJoinRequests = defineOperation({
  id: 'groups.list_join_requests',
  route: 'GET /groups/{groupId}/join-requests',
  ...changing,
  permission: 'groups:read',
  effect: 'read',
  thirdPartyText: true,
  summary: 'List requests to join a group',
  description:
    'List the people who wait to join a group with `joinApproval`, the oldest first. Asks the network. The session must be an admin. The event `group.join_request` reports new ones.',
  input: { groupId: GroupId },
  output: object({
    groupId: GroupId,
    data: entries('People who wait.', {
      phoneNumber: string('Phone number digits of the person.'),
      unidentified: optional(onlyTrue('Present if the person hides the number: `phoneNumber` is then a placeholder.')),
      requestedAt: optional(time('When the person asked, if the network reports it.')),
      method: optional(
        oneOf(
          ['invite_link', 'member', 'community'],
          'How the person asked, if the network reports it. `member`: a member proposed the person.',
        ),
      ),
    }),
  }),
  async run(ctx, { groupId }) {
    const { row, requests } = await reachRequests(ctx, groupId);
    const waiting = (await requests.list(row.network_id)).toSorted(
      (one, other) => (one.requestedAt ?? 0) - (other.requestedAt ?? 0),
    );
    await ctx.database.commit((tx) => adoptJoinRequests(tx, row, waiting, ctx.clock.now()), row.session_id);
    return { groupId, data: waiting.map(toRequest) };
  },
});

const Results = object({
  groupId: GroupId,
  results: entries('One entry per number.', {
    phoneNumber: string('Phone number digits of the person.'),
    ok: boolean('Whether the request was decided.'),
    reason: optional(string('Why it was not.')),
  }),
});

const deciding = {
  ...changing,
  recipients: 'phoneNumbers',
  input: { groupId: GroupId, phoneNumbers: PhoneNumbers },
  output: Results,
} as const;

export const approveJoinRequests = defineOperation({
  id: 'groups.approve_join_requests',
  route: 'POST /groups/{groupId}/join-requests/approve',
  ...deciding,
  uses: ['emit'],
  summary: 'Approve requests to join a group',
  description:
    'Let people in who wait to join a group. The session must be an admin. Returns one result per number, because some can fail.',
  run: (ctx, { groupId, phoneNumbers }) => decide(ctx, groupId, 'approve', phoneNumbers),
});

export const rejectJoinRequests = defineOperation({
  id: 'groups.reject_join_requests',
  route: 'POST /groups/{groupId}/join-requests/reject',
  ...deciding,
  uses: ['emit'],
  summary: 'Reject requests to join a group',
  description:
    'Turn down people who wait to join a group. The session must be an admin. Returns one result per number, because some can fail.',
  run: (ctx, { groupId, phoneNumbers }) => decide(ctx, groupId, 'reject', phoneNumbers),
});

async function decide(ctx: Context<'emit'>, groupId: string, decision: 'approve' | 'reject', given: readonly string[]) {
  const { row, session, requests } = await reachRequests(ctx, groupId);
  const results = await requests.decide(row.network_id, decision, [...new Set(given)]);
  const change = decision === 'approve' ? 'approved' : 'rejected';
  // The network may report the outcome as well; the first report of it counts.
  await ctx.database.commit(async (tx) => {
    for (const { phoneNumber, ok } of results)
      if (ok)
        await endJoinRequest(ctx, tx, session, { groupId, subject: row.subject }, phoneNumber, change, ctx.clock.now());
  }, session.sessionId);
  return { groupId, results: [...results] };
}

async function reachRequests(ctx: Context, groupId: string) {
  const row: GroupTable = await findGroup(ctx, groupId);
  const session = { accountId: ctx.accountId, sessionId: row.session_id };
  return { row, session, requests: await ctx.liveSessions.part(session, 'joinRequests') };
}

function toRequest({ phoneNumber, requestedAt, method }: JoinRequest) {
  return {
    phoneNumber,
    ...(isPlaceholder(phoneNumber) && { unidentified: true as const }),
    ...(requestedAt !== undefined && { requestedAt: isoTime(requestedAt) }),
    ...(method !== undefined && { method }),
  };
}
