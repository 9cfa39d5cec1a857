import { ApiError } from '@switchboard/sdk/errors';
import type { ReactNode } from 'react';
import { errorText, isUnavailable } from '../../api.ts';
import { useWhenReachable } from '../../reachable.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { Button } from '../button.tsx';
import { Card } from './layout.tsx';

interface QueryLike<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

/** Renders a query: its data, its loading state or its error. Data stays when a later fetch fails. */
export function Loaded<T>({
  query,
  notFound,
  loading = <LoadingLines />,
  children,
}: {
  readonly query: QueryLike<T>;
  /** Shown if the server returns 404. */
  readonly notFound?: string;
  readonly loading?: ReactNode;
  readonly children: (data: T) => ReactNode;
}) {
  if (notFound !== undefined && isNotFound(query.error)) {
    return (
      <Card flush>
        <Empty title={notFound} />
      </Card>
    );
  }
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <Failure error={query.error} onRetry={query.refetch} />;
  return loading;
}

/** Whether an error is a 404. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** An empty state: what is missing, and how to create the first one. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="grid justify-items-center gap-1 px-6 py-14 text-center">
      {icon && <div className="mb-2 rounded-full bg-sunken p-3.5 text-ink-faint [&>svg]:size-6">{icon}</div>}
      <p className="font-medium">{title}</p>
      {children && <div className="max-w-md text-sm text-ink-soft">{children}</div>}
      {action && <div className="mt-4">{action}</div>}
    </div>
  );
}

/**
 * A failed request with a button to retry, which also happens automatically once a server that was down responds again.
 */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => unknown }) {
  useWhenReachable(isUnavailable(error) && onRetry !== undefined, () => onRetry?.());
  return (
    <div role="alert" className="grid justify-items-center gap-1 px-6 py-12 text-center">
      <p className="font-medium text-bad">{sharedStrings.failedToLoad}</p>
      <p className="max-w-md text-sm wrap-anywhere text-ink-soft">{errorText(error)}</p>
      {error instanceof ApiError && error.requestId !== '' && (
        <p className="font-mono text-xs text-ink-faint">{sharedStrings.request(error.requestId)}</p>
      )}
      {onRetry && (
        <Button className="mt-4" onClick={() => onRetry()}>
          {sharedStrings.tryAgain}
        </Button>
      )}
    </div>
  );
}

/** A placeholder for content that is loading. */
export function LoadingLines({ count = 4 }: { readonly count?: number }) {
  return (
    <div role="status" aria-label={sharedStrings.loading} className="grid gap-3 p-5">
      {Array.from({ length: count }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are identical
        <div key={line} className="pulse-slow h-5 rounded bg-sunken" style={{ width: `${92 - (line % 3) * 17}%` }} />
      ))}
    </div>
  );
}
