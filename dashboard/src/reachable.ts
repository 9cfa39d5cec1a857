import { useEffect, useEffectEvent } from 'react';

const CHECK_EVERY_MS = 2000;

/** Runs `action` once the server responds again, and then every two seconds while `isWaiting`. */
export function useWhenReachable(isWaiting: boolean, action: () => unknown): void {
  const act = useEffectEvent(action);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(async () => {
      if (await isReachable()) act();
    }, CHECK_EVERY_MS);
    return () => clearInterval(timer);
  }, [isWaiting]);
}

async function isReachable(): Promise<boolean> {
  try {
    return (await fetch('/health', { cache: 'no-store', signal: AbortSignal.timeout(CHECK_EVERY_MS) })).ok;
  } catch {
    return false;
  }
}
