import { lazy, Suspense } from 'react';
import { Card, Page } from '../../components/page/layout.tsx';
import { Loaded, LoadingLines } from '../../components/page/states.tsx';
import { useSessions } from '../../model/sessions.ts';
import { AttentionCard } from './attentionCard.tsx';
import { Figures } from './figures.tsx';
import { FirstSteps } from './firstSteps.tsx';
import { SessionsCard } from './sessionsCard.tsx';
import { overviewStrings } from './strings.ts';
import { useTraffic } from './traffic.ts';
import { useWatchedWebhooks } from './watched.ts';
import { WebhooksCard } from './webhooksCard.tsx';

/** Loaded separately, so that the page is readable before the plotting library has loaded. */
const Plots = lazy(async () => ({ default: (await import('./plots.tsx')).Plots }));

/** Not every change of a session causes an event. */
const SESSIONS_EVERY_MS = 10_000;

export function OverviewPage() {
  const query = useOverview();
  return (
    <Page title={overviewStrings.title} lead={overviewStrings.lead}>
      <Loaded query={query} loading={<Loading />}>
        {({ sessions, traffic, webhooks: { watched, hasMore } }) => (
          <>
            <AttentionCard sessions={sessions} webhooks={watched} />
            <FirstSteps sessions={sessions} webhooks={watched} />
            <Figures sessions={sessions} traffic={traffic} webhooks={watched} />
            <Suspense fallback={<Loading />}>
              <Plots traffic={traffic} webhooks={watched} />
            </Suspense>
            <div className="grid grid-cols-1 items-start gap-6 wide:grid-cols-[1fr_2fr]">
              <SessionsCard sessions={sessions} />
              <WebhooksCard webhooks={watched} hasMore={hasMore} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The data of the page, once all of it has loaded. */
function useOverview() {
  const sessions = useSessions(SESSIONS_EVERY_MS);
  const traffic = useTraffic();
  const webhooks = useWatchedWebhooks();
  const parts = [sessions, traffic, webhooks];
  return {
    data:
      sessions.data && traffic.data && webhooks.data
        ? { sessions: sessions.data, traffic: traffic.data, webhooks: webhooks.data }
        : undefined,
    error: parts.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => {
      for (const part of parts) void part.refetch();
    },
  };
}

function Loading() {
  return (
    <Card flush>
      <LoadingLines count={8} />
    </Card>
  );
}
