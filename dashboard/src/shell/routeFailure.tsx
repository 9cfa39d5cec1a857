import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Failure } from '../components/states.tsx';
import { PageCodeError } from '../lazyPage.tsx';
import { useWhenReachable } from '../reachable.ts';

/** A page could not be opened: why, and another try. */
export function RouteFailure({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isCode = error instanceof PageCodeError;
  // A browser may remember that a module did not load, and an upgraded server has it under another name: only a new
  // document helps in both cases.
  useWhenReachable(isCode, () => {
    if (!hasJustReloaded()) reload();
  });
  return <Failure error={error} onRetry={isCode ? reload : () => router.invalidate()} />;
}

/** Notes the last automatic reload, so that a page whose code is broken does not reload for ever. `early.js` has it too. */
const RELOADED_AT = 'reloadedAt';
const RELOAD_EVERY_MS = 30_000;

function hasJustReloaded(): boolean {
  return Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) < RELOAD_EVERY_MS;
}

function reload(): void {
  sessionStorage.setItem(RELOADED_AT, String(Date.now()));
  location.reload();
}
