import type { Session } from '@switchboard/sdk/api';
import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { CircleCheck, CircleDashed } from 'lucide-react';
import { api } from '../../api.ts';
import { Card } from '../../components/page/layout.tsx';
import { type PageOf, readRows } from '../../paged.ts';
import { overviewStrings } from './strings.ts';
import type { WatchedWebhook } from './watched.ts';

type StepName = keyof typeof overviewStrings.stepNames;

interface FirstStepsProps {
  readonly sessions: readonly Session[];
  readonly webhooks: readonly WatchedWebhook[];
}

/** The first steps of a new account, ticked off one by one. Hidden once all are done. */
export function FirstSteps({ sessions, webhooks }: FirstStepsProps) {
  const hasMessage = useHas(['messages', 'any'], (page) => api.messages.list({ limit: 1, ...page }));
  const hasDelivery = useHas(['deliveries', 'any'], (page) =>
    api.webhooks.listDeliveries({ states: ['delivered'], limit: 1, ...page }),
  );
  const hasKey = useHas(['api_keys', 'any'], (page) => api.apiKeys.list({ limit: 1, ...page }));
  // Only then is it known whether the card is needed.
  if (hasMessage === undefined || hasDelivery === undefined || hasKey === undefined) return null;

  const steps: readonly (readonly [StepName, LinkProps['to'], boolean])[] = [
    // A session that was connected once counts, whatever its status is now.
    [
      'session',
      '/sessions',
      sessions.some(({ phoneNumber, status }) => status === 'connected' || phoneNumber !== null),
    ],
    ['message', '/simulator', hasMessage],
    ['webhook', '/webhooks', webhooks.length > 0],
    ['delivery', '/webhooks', hasDelivery],
    ['key', '/keys', hasKey],
  ];
  const done = steps.filter(([, , isDone]) => isDone).length;
  if (done === steps.length) return null;
  return (
    <Card title={overviewStrings.steps} hint={overviewStrings.stepsDone(done, steps.length)}>
      <ol className="grid grid-cols-1 gap-1">
        {steps.map(([name, to, isDone]) => (
          <Step key={name} name={name} to={to} isDone={isDone} />
        ))}
      </ol>
    </Card>
  );
}

interface StepProps {
  readonly name: StepName;
  readonly to: LinkProps['to'];
  readonly isDone: boolean;
}

function Step({ name, to, isDone }: StepProps) {
  const [title, hint] = overviewStrings.stepNames[name];
  const Icon = isDone ? CircleCheck : CircleDashed;
  return (
    <li className="flex items-start gap-3 py-1.5">
      <Icon
        aria-hidden
        className={isDone ? 'mt-0.5 size-5 shrink-0 text-good' : 'mt-0.5 size-5 shrink-0 text-ink-faint'}
      />
      <div className="min-w-0 text-sm">
        <span className="sr-only">{isDone ? overviewStrings.stepDone : overviewStrings.stepOpen} </span>
        {isDone ? (
          <span className="text-ink-faint line-through">{title}</span>
        ) : (
          <>
            <Link to={to} className="font-medium text-accent">
              {title}
            </Link>
            <p className="text-ink-soft">{hint}</p>
          </>
        )}
      </div>
    </li>
  );
}

/** Whether a list has an entry. Undefined while that is unknown. */
function useHas(queryKey: readonly string[], read: (page: { readonly cursor?: string }) => Promise<PageOf<unknown>>) {
  return useQuery({
    queryKey,
    queryFn: async () => (await readRows(read, {})).data.length > 0,
    enabled: ({ state }) => state.data !== true,
  }).data;
}
