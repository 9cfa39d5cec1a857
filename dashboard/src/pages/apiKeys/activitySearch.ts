export const outcomes = ['ok', 'pending_approval', 'failed', 'confirmation_required', 'confirmation_declined'] as const;

/** The filters of the activity of a key, which are its search parameters. */
export interface ActivitySearch {
  readonly tool?: string | undefined;
  /** `ok`, `failed` for any error, or the code of an error. */
  readonly outcome?: string | undefined;
}

export function activitySearch(search: Readonly<Record<string, unknown>>): ActivitySearch {
  const text = (name: string) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? value.slice(0, 100) : undefined;
  };
  return { tool: text('tool'), outcome: text('outcome') };
}
