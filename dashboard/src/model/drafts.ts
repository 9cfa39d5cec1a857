import { useState } from 'react';
import { useAccount } from '../shell/account.ts';

/** Kept for this tab only, so that no draft stays on the machine. */
const PREFIX = 'draft:';

export interface Draft {
  readonly text: string;
  readonly write: (text: string) => void;
  /** The text at this moment, even after the chat was closed. */
  readonly current: () => string;
}

/**
 * Keeps an unsent text while other chats and pages are open.
 * @param place what the text is written for
 */
export function useDraft(place: string): Draft {
  const key = `${PREFIX}${useAccount().accountId}:${place}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '');

  function write(next: string) {
    setText(next);
    if (next === '') sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, next);
  }

  return { text, write, current: () => sessionStorage.getItem(key) ?? '' };
}

/** Deletes the drafts of all accounts except this one. */
export function clearDrafts(exceptAccountId: string | null = null): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX) && !key.startsWith(`${PREFIX}${exceptAccountId}:`)) sessionStorage.removeItem(key);
  }
}
