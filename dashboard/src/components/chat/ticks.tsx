import type { Message } from '@switchboard/sdk/api';
import { Check, CheckCheck, CircleAlert, Clock, Hourglass } from 'lucide-react';
import { messageStrings } from '../../strings/chats.ts';
import { classes } from '../classes.ts';

const icons = {
  pending_approval: Hourglass,
  queued: Clock,
  scheduled: Clock,
  sent: Check,
  delivered: CheckCheck,
  read: CheckCheck,
  failed: CircleAlert,
};

/** The status of a message: one tick for sent, two for delivered, two in color for read. */
export function Ticks({ status }: { readonly status: Message['status'] }) {
  const Icon = icons[status];
  const word = messageStrings.statuses[status];
  return (
    <span title={word} className="inline-flex">
      <Icon
        aria-hidden
        className={classes(
          'size-4',
          status === 'read' && 'text-accent',
          status === 'failed' && 'text-bad',
          status !== 'read' && status !== 'failed' && 'text-ink-faint',
        )}
      />
      <span className="sr-only">{word}</span>
    </span>
  );
}
