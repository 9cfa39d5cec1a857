import type { ToolCall } from '@switchboard/sdk/api';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { classes } from '../../components/classes.ts';
import { useCommittedInput } from '../../components/form/committedInput.ts';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { Lamp, type LampTone } from '../../components/lamp.tsx';
import { LinkButton } from '../../components/linkButton.tsx';
import type { Column } from '../../components/page/dataTable.tsx';
import { Card, Page } from '../../components/page/layout.tsx';
import { ListTable } from '../../components/page/listPage.tsx';
import { Empty, isNotFound } from '../../components/page/states.tsx';
import { Time } from '../../components/text/time.tsx';
import { useLivePaged } from '../../live/livePaged.ts';
import { useKeyNames } from '../../model/apiKeys.ts';
import { type ActivitySearch, outcomes } from './activitySearch.ts';
import { activityStrings, outcomeLabel } from './activityStrings.ts';

const route = getRouteApi('/shell/keys/$keyId');

/** A tool call causes no event. */
const REFRESH_MS = 5000;
/** For a tool and two lines about it. */
const ROW_HEIGHT = 84;
const idOf = ({ callId }: ToolCall) => callId;

/** The calls of an agent with a key over MCP. The list updates itself. */
export function ActivityPage() {
  const { keyId } = route.useParams();
  const { tool, outcome } = route.useSearch();
  const keyNameOf = useKeyNames();
  const filters = { ...(tool !== undefined && { tool }), ...(outcome !== undefined && { outcome }) };
  const calls = useLivePaged({
    key: ['tool_calls', keyId, filters],
    read: (page) => api.apiKeys.listCalls({ keyId, ...filters, ...page }),
    idOf,
    everyMs: REFRESH_MS,
  });
  const isFiltered = tool !== undefined || outcome !== undefined;

  return (
    <Page
      title={activityStrings.titleOf(keyNameOf(keyId))}
      lead={activityStrings.lead}
      actions={<LinkButton to="/keys">{activityStrings.back}</LinkButton>}
    >
      <Card flush>
        {isNotFound(calls.error) ? (
          <Empty title={activityStrings.notFound} />
        ) : (
          <>
            <Filters />
            <ListTable
              list={calls}
              label={activityStrings.title}
              columns={columns}
              rowKey={idOf}
              rowHeight={ROW_HEIGHT}
              empty={isFiltered ? <Empty title={activityStrings.noneFit} /> : <NothingYet />}
            />
          </>
        )}
      </Card>
    </Page>
  );
}

function NothingYet() {
  return (
    <Empty icon={<Bot />} title={activityStrings.empty}>
      {activityStrings.emptyHint}
    </Empty>
  );
}

/** The filters are in the address, so that it can be shared. */
function Filters() {
  const { keyId } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  const change = (more: ActivitySearch) =>
    navigate({ to: '/keys/$keyId', params: { keyId }, search: { ...search, ...more }, replace: true });
  const orNone = (value: string) => (value === '' ? undefined : value);
  const tool = useCommittedInput(search.tool ?? '', (text) => change({ tool: orNone(text.trim()) }));
  const offered = [...new Set([...outcomes, ...(search.outcome === undefined ? [] : [search.outcome])])];
  return (
    <div className="grid grid-cols-1 gap-3 border-b border-line px-5 py-4 wide:grid-cols-3">
      <TextField label={activityStrings.tool} placeholder={activityStrings.toolHint} autoComplete="off" {...tool} />
      <SelectField
        label={activityStrings.outcome}
        options={[['', activityStrings.any], ...offered.map((one) => [one, outcomeLabel(one)] as const)]}
        value={search.outcome ?? ''}
        onChange={({ currentTarget: { value } }) => change({ outcome: orNone(value) })}
      />
    </div>
  );
}

const columns: readonly Column<ToolCall>[] = [
  {
    id: 'tool',
    header: activityStrings.tool,
    width: 'minmax(0, 2fr)',
    cell: ({ tool, arguments: kept }) => (
      <>
        <span className="block font-mono text-sm wrap-anywhere whitespace-normal">{tool}</span>
        <Arguments text={summaryOf(kept)} />
      </>
    ),
  },
  {
    id: 'outcome',
    header: activityStrings.outcome,
    width: 'minmax(0, 1fr)',
    cell: ({ outcome }) => (
      <span className="block truncate" title={outcome}>
        <Lamp tone={toneOf(outcome)}>{outcomeLabel(outcome)}</Lamp>
      </span>
    ),
  },
  {
    id: 'client',
    header: activityStrings.client,
    width: '9rem',
    wideOnly: true,
    cell: ({ clientName, clientVersion }) => {
      const client = [clientName, clientVersion].filter((part) => part !== null).join(' ');
      return (
        <span className="block truncate text-ink-soft" title={client}>
          {client || activityStrings.unknown}
        </span>
      );
    },
  },
  {
    id: 'duration',
    header: activityStrings.duration,
    width: '5.5rem',
    wideOnly: true,
    cell: ({ durationMs }) => activityStrings.milliseconds(durationMs),
  },
  {
    id: 'time',
    header: activityStrings.time,
    width: '6rem',
    cell: ({ createdAt }) => <Time at={createdAt} as="relative" />,
  },
];

/** Two lines, and all of them after a press: a phone shows no titles. */
function Arguments({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  if (text === '') return null;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      className={classes(
        'block min-h-6 w-full text-left text-xs wrap-anywhere whitespace-normal text-ink-faint',
        !isOpen && 'line-clamp-2',
      )}
      onClick={() => setOpen(!isOpen)}
    >
      {text}
    </button>
  );
}

function toneOf(outcome: string): LampTone {
  if (outcome === 'ok') return 'good';
  if (outcome === 'confirmation_required' || outcome === 'pending_approval') return 'warn';
  return outcome === 'confirmation_declined' ? 'off' : 'bad';
}

/** The arguments on one line, such as `to 491701234567, message (24 characters)`. */
function summaryOf(kept: ToolCall['arguments']): string {
  return Object.entries(kept)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
