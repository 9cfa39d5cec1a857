import { pendingCount, usePendingApprovals } from '../model/approvals.ts';
import { approvalStrings } from '../strings/approvals.ts';

/** The number of messages that wait for approval, in the navigation. */
export function PendingBadge() {
  const pending = usePendingApprovals();
  if (pending.rows.length === 0) return null;
  const count = pendingCount(pending);
  return (
    <span className="ml-auto rounded-full bg-warn-soft px-2 text-xs font-medium text-warn tabular-nums">
      <span aria-hidden>{count}</span>
      <span className="sr-only">{approvalStrings.waiting(count)}</span>
    </span>
  );
}
