import type { LTHashState, WAPatchName, WASocket } from 'baileys';

/** Store type where Baileys keeps the versions of the shared state. */
const VERSION = 'app-state-sync-version';

/** Returns the stored version of a collection of the shared state; undefined before it was first read. */
export async function stateVersion(
  { authState: { keys } }: WASocket,
  name: WAPatchName,
): Promise<LTHashState | undefined> {
  return (await keys.get(VERSION, [name]))[name];
}

/** Puts back the version of a collection. Without one, Baileys reads the collection from its beginning. */
export async function restoreStateVersion(
  { authState: { keys, creds } }: WASocket,
  name: WAPatchName,
  version: LTHashState | undefined,
): Promise<void> {
  // Under the lock with which Baileys changes it.
  await keys.transaction(
    () => Promise.resolve(keys.set({ [VERSION]: { [name]: version ?? null } })),
    creds.me?.id ?? 'app-patch',
  );
}
