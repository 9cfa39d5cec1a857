import type { Operations } from '@switchboard/sdk/api';
import { api } from '../../api.ts';
import type { Column } from '../../components/page/dataTable.tsx';
import { Card } from '../../components/page/layout.tsx';
import { ListTable } from '../../components/page/listPage.tsx';
import { SessionStatus } from '../../components/session/sessionStatus.tsx';
import { Time } from '../../components/text/time.tsx';
import { useLivePaged } from '../../live/livePaged.ts';
import { sessionStrings } from '../../strings/sessions.ts';

type Change = Operations['sessions.history']['output']['data'][number];

const columns: readonly Column<Change>[] = [
  { id: 'when', header: sessionStrings.when, width: '6.5rem', cell: ({ at }) => <Time at={at} as="relative" /> },
  {
    id: 'status',
    header: sessionStrings.statusAndReason,
    width: 'minmax(0, 1fr)',
    cell: ({ status, reason }) => (
      <>
        <SessionStatus status={status} />
        {reason !== null && (
          <div title={reason} className="truncate pl-4.5 text-xs text-ink-soft">
            {reason}
          </div>
        )}
      </>
    ),
  },
];

/** Entries have no id. Two identical entries of the same moment look the same to the reader. */
const idOf = ({ at, status, reason }: Change) => `${at} ${status} ${reason}`;

/** The status changes of the session with their reasons, newest first. */
export function HistoryCard({ sessionId }: { readonly sessionId: string }) {
  const history = useLivePaged({
    key: ['sessions', sessionId, 'history'],
    read: (page) => api.sessions.history({ sessionId, ...page }),
    idOf,
    everyMs: 5000,
  });
  return (
    <Card flush title={sessionStrings.statusChanges}>
      <ListTable
        list={history}
        label={sessionStrings.statusChanges}
        columns={columns}
        rowKey={idOf}
        empty={<p className="px-5 pb-5 text-sm text-ink-soft">{sessionStrings.noHistory}</p>}
      />
    </Card>
  );
}
