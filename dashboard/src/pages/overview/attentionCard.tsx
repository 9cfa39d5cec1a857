import type { Session } from '@switchboard/sdk/api';
import { CircleAlert, TriangleAlert } from 'lucide-react';
import { classes } from '../../components/classes.ts';
import { LinkButton } from '../../components/linkButton.tsx';
import { Notice } from '../../components/notice.tsx';
import { Card } from '../../components/page/layout.tsx';
import { useNow } from '../../components/text/time.tsx';
import { type AttentionItem, attentionItems } from './attention.ts';
import { overviewStrings } from './strings.ts';
import type { WatchedWebhook } from './watched.ts';

interface AttentionProps {
  readonly sessions: readonly Session[];
  readonly webhooks: readonly WatchedWebhook[];
}

/** Lists problems. Screen readers announce their number, not each second of a countdown. */
export function AttentionCard({ sessions, webhooks }: AttentionProps) {
  const concerns = attentionItems(sessions, webhooks, useNow());
  return (
    <Card title={overviewStrings.attention}>
      <p role="status" className="sr-only">
        {overviewStrings.attentionCount(concerns.length)}
      </p>
      {concerns.length === 0 ? (
        <Notice tone="good">{overviewStrings.allWell}</Notice>
      ) : (
        <ul className="grid gap-2.5">
          {concerns.map((concern) => (
            <AttentionLine key={concern.id} concern={concern} />
          ))}
        </ul>
      )}
    </Card>
  );
}

const looks = {
  bad: { icon: CircleAlert, className: 'bg-bad-soft text-bad' },
  warn: { icon: TriangleAlert, className: 'bg-warn-soft text-warn' },
};

function AttentionLine({ concern: { tone, text, about, target } }: { readonly concern: AttentionItem }) {
  const { icon: Icon, className } = looks[tone];
  return (
    <li
      className={classes(
        'flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-lg px-3.5 py-2.5 text-sm',
        className,
      )}
    >
      <div className="flex min-w-0 flex-1 basis-72 items-start gap-2.5">
        <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
        <div className="min-w-0 wrap-anywhere">
          <p className="font-medium">{text}</p>
          {about !== undefined && <p className="text-xs">{about}</p>}
        </div>
      </div>
      <ItemLink target={target} />
    </li>
  );
}

function ItemLink({ target }: Pick<AttentionItem, 'target'>) {
  switch (target.page) {
    case 'webhook':
      return (
        <LinkButton to="/webhooks/$webhookId" params={{ webhookId: target.webhookId }} size="small">
          {overviewStrings.viewWebhook}
        </LinkButton>
      );
    case 'deliveries': {
      const { webhookId, state } = target;
      return (
        <LinkButton to="/deliveries" search={{ webhookId, state }} size="small">
          {overviewStrings.viewDeliveries}
        </LinkButton>
      );
    }
    case 'session':
      return (
        <LinkButton to="/sessions/$sessionId" params={{ sessionId: target.sessionId }} size="small">
          {target.isPairing ? overviewStrings.pair : overviewStrings.viewSession}
        </LinkButton>
      );
    case 'sessions':
      return (
        <LinkButton to="/sessions" size="small">
          {overviewStrings.viewSessions}
        </LinkButton>
      );
  }
}
