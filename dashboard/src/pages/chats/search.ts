/** The search parameters of the chats and of the simulator. */
export interface ChatSearch extends AdSearch {
  readonly session?: string | undefined;
  readonly chat?: string | undefined;
  /** A search result to highlight. */
  readonly message?: string | undefined;
  /** Hides messages after this time. */
  readonly upTo?: string | undefined;
}

/** The part of the search that selects chats and messages by ad. */
export interface AdSearch {
  /** Only those that came through ads. */
  readonly ads?: true | undefined;
  /** Only results from this ad. */
  readonly adId?: string | undefined;
}

/** Returns the filter of the API. */
export function adFilterOf({ ads, adId }: AdSearch): { hasReferral?: true; adId?: string } {
  if (!ads) return {};
  return adId === undefined ? { hasReferral: true } : { adId };
}

export function chatSearch(search: Readonly<Record<string, unknown>>): ChatSearch {
  const text = (name: string) => {
    const value = search[name];
    return typeof value === 'string' ? value : undefined;
  };
  const upTo = Date.parse(text('upTo') ?? '');
  return {
    session: text('session'),
    chat: text('chat'),
    message: text('message'),
    ...(String(search['ads']) === 'true' && { ads: true, adId: text('adId') }),
    upTo: Number.isNaN(upTo) ? undefined : new Date(upTo).toISOString(),
  };
}
