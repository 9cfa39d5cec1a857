/** The search parameters of the chats and of the simulator. */
export interface ChatSearch {
  readonly session?: string | undefined;
  readonly chat?: string | undefined;
  /** A search result to highlight. */
  readonly message?: string | undefined;
  /** Hides messages after this time. */
  readonly upTo?: string | undefined;
}

export function chatSearch(search: Readonly<Record<string, unknown>>): ChatSearch {
  // The router parses digits into a number.
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
