import { ApiError } from '@switchboard/sdk/errors';
import type { ReactNode } from 'react';
import { errorText, isUnavailable } from '../api.ts';
import { useWhenReachable } from '../reachable.ts';
import { words } from '../strings/shared.ts';
import { Button } from './button.tsx';
import { Card } from './layout.tsx';

interface QueryLike<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

/**
 * What a query has to show: its data, or that it loads, or why it failed. Data that is there stays when a later fetch
 * fails.
 */
export function Loaded<T>({
  query,
  notFound,
  loading = <LoadingLines />,
  children,
}: {
  readonly query: QueryLike<T>;
  /** Said when there is no such thing, or not any more. */
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

/** Whether an error says that there is no such thing. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Nothing is there yet: what it would be, and how to get the first one. */
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

/** It did not load: why, and another try, which follows by itself once a server that was away answers again. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => unknown }) {
  useWhenReachable(isUnavailable(error) && onRetry !== undefined, () => onRetry?.());
  return (
    <div role="alert" className="grid justify-items-center gap-1 px-6 py-12 text-center">
      <p className="font-medium text-bad">{words.failedToLoad}</p>
      <p className="max-w-md text-sm wrap-anywhere text-ink-soft">{errorText(error)}</p>
      {error instanceof ApiError && error.requestId !== '' && (
        <p className="font-mono text-xs text-ink-faint">{words.request(error.requestId)}</p>
      )}
      {onRetry && (
        <Button className="mt-4" onClick={() => onRetry()}>
          {words.tryAgain}
        </Button>
      )}
    </div>
  );
}

/** Stands where lines will be. */
export function LoadingLines({ count = 4 }: { readonly count?: number }) {
  return (
    <div role="status" aria-label={words.loading} className="grid gap-3 p-5">
      {Array.from({ length: count }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={line} className="pulse-slow h-5 rounded bg-sunken" style={{ width: `${92 - (line % 3) * 17}%` }} />
      ))}
    </div>
  );
}
