/** What stands behind the `?` of the chats and of the simulator. */
export interface ChatSearch {
  readonly session?: string | undefined;
  readonly chat?: string | undefined;
  /** A message that was found, */
  readonly message?: string | undefined;
  /** and the time up to which messages are shown for it. */
  readonly upTo?: string | undefined;
}

export function chatSearch(search: Readonly<Record<string, unknown>>): ChatSearch {
  // An address bar takes digits for a number.
  const text = (name: string) => {
    const value = search[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  };
  const upTo = Date.parse(text('upTo') ?? '');
  return {
    session: text('session'),
    chat: text('chat'),
    message: text('message'),
    upTo: Number.isNaN(upTo) ? undefined : new Date(upTo).toISOString(),
  };
}
