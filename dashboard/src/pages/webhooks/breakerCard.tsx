import type { CircuitBreaker } from '@switchboard/sdk/api';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, errorText } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Lamp } from '../../components/lamp.tsx';
import { Notice } from '../../components/notice.tsx';
import { type Column, DataTable } from '../../components/page/dataTable.tsx';
import { Card } from '../../components/page/layout.tsx';
import { Loaded } from '../../components/page/states.tsx';
import { duration, Time, useNow } from '../../components/text/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { breakerQuery, breakerTones } from '../../components/webhook/breakerLamp.tsx';
import { breakerStrings } from '../../strings/breaker.ts';

/** The state of the breaker with its reason and history, and the button to reset it. */
export function BreakerCard({ webhookId }: { readonly webhookId: string }) {
  const query = useQuery(breakerQuery(webhookId));
  const queries = useQueryClient();
  const toast = useToast();
  const reset = useMutation({
    mutationFn: () => api.webhooks.endpoints.resetCircuitBreaker({ webhookId }),
    onSuccess: ({ released }) => {
      toast(breakerStrings.wasReset(released));
      return queries.invalidateQueries({ queryKey: ['webhooks', webhookId] });
    },
    onError: (error) => toast(errorText(error), 'bad'),
  });

  return (
    <Card
      title={breakerStrings.title}
      actions={
        query.data !== undefined &&
        query.data.state !== 'closed' && (
          <Button look="primary" size="small" busy={reset.isPending} onClick={() => reset.mutate()}>
            {breakerStrings.reset}
          </Button>
        )
      }
    >
      <Loaded query={query}>{(breaker) => <Breaker breaker={breaker} />}</Loaded>
    </Card>
  );
}

function Breaker({ breaker }: { readonly breaker: CircuitBreaker }) {
  const { state, since, failuresInARow, window, thresholds } = breaker;
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <Lamp tone={breakerTones[state]}>{breakerStrings.states[state]}</Lamp>
        {since !== null && (
          <span className="text-sm text-ink-faint">
            <Since at={since} />
          </span>
        )}
      </div>
      {state === 'closed' ? (
        <p className="text-sm text-ink-soft">{breakerStrings.explain.closed}</p>
      ) : (
        <Notice tone={state === 'open' ? 'bad' : 'warn'}>
          <HeldNotice breaker={breaker} />
        </Notice>
      )}
      <ul className="grid gap-1 text-sm text-ink-soft">
        <li>{breakerStrings.inARow(failuresInARow, thresholds.failuresInARow)}</li>
        <li>{breakerStrings.window(window.failures, window.attempts, window.seconds)}</li>
      </ul>
      <details className="text-sm text-ink-soft">
        <summary className="text-ink">{breakerStrings.history}</summary>
        <div className="-mx-5 mt-2">
          <DataTable
            label={breakerStrings.history}
            columns={historyColumns}
            rows={breaker.transitions}
            rowKey={({ at, to }) => `${at} ${to}`}
            empty={<p className="px-5 py-2">{breakerStrings.noHistory}</p>}
          />
        </div>
        <p className="mt-3 text-xs text-ink-faint">
          {breakerStrings.rule(
            thresholds.failuresInARow,
            thresholds.windowFailureRate,
            thresholds.windowAttempts,
            thresholds.windowSeconds,
          )}{' '}
          {breakerStrings.probes(thresholds.openSeconds, thresholds.steadySeconds, thresholds.longestOpenSeconds)}
        </p>
      </details>
    </div>
  );
}

function Since({ at }: { readonly at: string }) {
  return breakerStrings.since(duration(useNow() - Date.parse(at)));
}

/** Explains why deliveries are held, and when they continue. */
function HeldNotice({ breaker }: { readonly breaker: CircuitBreaker }) {
  const { state, reason, lastError, held, nextProbeAt } = breaker;
  const now = useNow();
  const waitMs = nextProbeAt === null ? undefined : Date.parse(nextProbeAt) - now;
  const next =
    waitMs === undefined
      ? undefined
      : waitMs > 0
        ? breakerStrings.nextProbe(duration(waitMs))
        : breakerStrings.probeNow;
  const facts = [breakerStrings.held(held.count), next].filter((fact) => fact !== undefined).join('; ');
  return (
    <div className="grid gap-1">
      {reason !== null && <p>{breakerStrings.reasons[reason] ?? reason}</p>}
      {lastError !== null && <p>{breakerStrings.lastError(lastError.message)}</p>}
      <p className="font-medium">{facts}</p>
      <p>{breakerStrings.explain[state]}</p>
      <p>{breakerStrings.resetHint}</p>
    </div>
  );
}

const historyColumns: readonly Column<CircuitBreaker['transitions'][number]>[] = [
  { id: 'at', header: breakerStrings.at, width: '6rem', cell: ({ at }) => <Time at={at} as="relative" /> },
  {
    id: 'what',
    header: breakerStrings.what,
    width: 'minmax(0, 11rem)',
    cell: ({ from, to }) => breakerStrings.change(from, to),
  },
  {
    id: 'why',
    header: breakerStrings.why,
    width: 'minmax(0, 1fr)',
    wideOnly: true,
    cell: ({ reason }) => breakerStrings.reasons[reason] ?? reason,
  },
];
