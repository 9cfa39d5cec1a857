import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../api.ts';
import { useLiveEvents } from '../live/live.ts';
import { chatStrings } from '../strings/chats.ts';
import { displayName } from './displayName.ts';

/** Limits the names that are read. Other people are shown by their number, other groups as "Group". */
const MAX_NAMES = 1000;
const REFRESH_MS = 30_000;

export type NameOf = (id: string) => string;

/** Resolves the ids of people and groups to their names, or to phone numbers. */
export function useNames(sessionId: string): NameOf {
  const queries = useQueryClient();
  // Not under `contacts` or `groups`, so that not every message refetches it.
  const queryKey = ['names', sessionId];
  const { data } = useQuery({ queryKey, queryFn: () => readNames(sessionId), refetchInterval: REFRESH_MS });
  useLiveEvents(({ event, data: about }) => {
    if (event !== 'message.incoming' || about.sessionId !== sessionId) return;
    const isNew = data !== undefined && data.size < MAX_NAMES && !data.has(about.from);
    if (isNew) void queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
  });
  return (id) => data?.get(id) ?? (id.startsWith('grp_') ? chatStrings.group : chatStrings.phone(id));
}

/** People without a name are included, so that they count as known. */
async function readNames(sessionId: string): Promise<ReadonlyMap<string, string | null>> {
  const names = new Map<string, string | null>();
  for await (const { phoneNumber, name } of api.contacts.list.all({ sessionId, limit: 200 })) {
    names.set(phoneNumber, shown(name));
    if (names.size >= MAX_NAMES) break;
  }
  let groups = 0;
  for await (const { groupId, subject } of api.groups.list.all({ sessionId, limit: 200 })) {
    names.set(groupId, shown(subject));
    if (++groups >= MAX_NAMES) break;
  }
  return names;
}

/** A name of nothing but controls is none. */
const shown = (name: string | null) => (name === null ? null : displayName(name) || null);
