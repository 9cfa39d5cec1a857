import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Failure } from '../components/page/states.tsx';
import { PageCodeError } from '../lazyPage.tsx';
import { useWhenReachable } from '../reachable.ts';

/** Shown if a page could not be opened, with a button to retry. */
export function RouteFailure({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isCode = error instanceof PageCodeError;
  // A browser may cache that a module failed to load, and an upgraded server has it under another name. Only a new
  // document helps in both cases.
  useWhenReachable(isCode, () => {
    if (!hasJustReloaded()) reload();
  });
  return <Failure error={error} onRetry={isCode ? reload : () => router.invalidate()} />;
}

/** Stores the last automatic reload, so that a page with broken code does not reload forever. Also in `early.js`. */
const RELOADED_AT = 'reloadedAt';
const RELOAD_EVERY_MS = 30_000;

function hasJustReloaded(): boolean {
  return Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) < RELOAD_EVERY_MS;
}

function reload(): void {
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  location.reload();
}
