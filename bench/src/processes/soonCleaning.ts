/*
 * Loaded into a server with `--import`: what it cleans every ten minutes, it cleans `CLEANING_MS` after its start
 * instead.
 */
const EVERY_MS = 600_000;
const cleaningMs = Number(process.env['CLEANING_MS']);
const wait = globalThis.setTimeout;
/** Cleanings that are scheduled within this time of the first one are its first round. */
const FIRST_ROUND_MS = 1000;
let firstAt: number | undefined;

globalThis.setTimeout = Object.assign((action: () => void, ms?: number, ...rest: unknown[]) => {
  const isCleaning = ms === EVERY_MS;
  if (isCleaning) firstAt ??= performance.now();
  const isFirst = isCleaning && performance.now() - (firstAt ?? 0) < FIRST_ROUND_MS;
  return wait(action, isFirst ? cleaningMs : ms, ...(rest as []));
}, wait) as typeof setTimeout;
