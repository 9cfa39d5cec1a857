import type { Group, Operations } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { api, ServerError } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/page/dataTable.tsx';
import { Card } from '../../components/page/layout.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { Time } from '../../components/text/time.tsx';
import { useAction } from '../../model/actions.ts';
import { type NameOf, useNames } from '../../model/names.ts';
import { groupStrings } from './strings.ts';

type JoinRequest = Operations['groups.list_join_requests']['output']['data'][number];
type Decision = 'approve' | 'reject';

/** The network does not report every request. */
const REFRESH_MS = 30_000;
/** The most people of one decision. */
const MAX_DECIDED = 1024;
/** A name above the time and way of the request. */
const ROW_HEIGHT = 60;

/** The people who wait to join a group, for an admin to decide. */
export function JoinRequestsCard({ group: { groupId, sessionId } }: { readonly group: Group }) {
  const nameOf = useNames(sessionId);
  const { run, isPending } = useAction('groups');
  // Under its group, so that an event of the group refetches it.
  const query = useQuery({
    queryKey: ['groups', groupId, 'join_requests'],
    queryFn: async () => (await api.groups.listJoinRequests({ groupId })).data,
    refetchInterval: REFRESH_MS,
  });
  const waiting = query.data ?? [];

  const decide = (decision: Decision, phoneNumbers: string[]) =>
    run(() => decideOn(groupId, decision, phoneNumbers), groupStrings.decided[decision](phoneNumbers.length));
  const buttons = ({ phoneNumber }: JoinRequest) => (
    <span className="flex gap-2">
      {(['approve', 'reject'] as const).map((decision) => (
        <Button
          key={decision}
          size="small"
          look={decision === 'approve' ? 'primary' : 'secondary'}
          disabled={isPending}
          aria-label={groupStrings.decideOn[decision](nameOf(phoneNumber))}
          onClick={() => decide(decision, [phoneNumber])}
        >
          {groupStrings.decide[decision]}
        </Button>
      ))}
    </span>
  );

  return (
    <Card
      flush
      title={groupStrings.requests}
      actions={
        waiting.length > 1 && (
          <Button
            size="small"
            busy={isPending}
            onClick={() =>
              decide(
                'approve',
                waiting.slice(0, MAX_DECIDED).map(({ phoneNumber }) => phoneNumber),
              )
            }
          >
            {groupStrings.approveAll}
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {(requests) => (
          <DataTable
            label={groupStrings.requests}
            columns={columnsFor(nameOf, buttons)}
            rows={requests}
            rowKey={({ phoneNumber }) => phoneNumber}
            rowHeight={ROW_HEIGHT}
            empty={<p className="px-5 pb-5 text-sm text-ink-soft">{groupStrings.noRequests}</p>}
          />
        )}
      </Loaded>
    </Card>
  );
}

function columnsFor(
  nameOf: NameOf,
  buttons: (request: JoinRequest) => React.ReactNode,
): readonly Column<JoinRequest>[] {
  return [
    {
      id: 'who',
      header: groupStrings.waiting,
      width: 'minmax(0, 1fr)',
      cell: ({ phoneNumber, requestedAt, method }) => (
        <>
          <div className="truncate">{nameOf(phoneNumber)}</div>
          <div className="truncate text-xs text-ink-faint">
            {requestedAt !== undefined && <Time at={requestedAt} as="relative" />}
            {requestedAt !== undefined && method !== undefined && ' · '}
            {method !== undefined && groupStrings.requestMethods[method]}
          </div>
        </>
      ),
    },
    { id: 'decide', header: groupStrings.decision, width: '10.5rem', cell: buttons },
  ];
}

/** Throws if the network refused any of the decisions. */
async function decideOn(groupId: string, decision: Decision, phoneNumbers: string[]): Promise<void> {
  const call = decision === 'approve' ? api.groups.approveJoinRequests : api.groups.rejectJoinRequests;
  const { results } = await call({ groupId, phoneNumbers });
  const refused = results.filter(({ ok }) => !ok);
  if (refused.length === 0) return;
  throw new ServerError(
    refused.map(({ phoneNumber, reason }) => groupStrings.refused(phoneNumber, reason ?? '')).join('. '),
  );
}
