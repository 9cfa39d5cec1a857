import { useState } from 'react';
import { useAccount } from '../shell/account.ts';

/** Kept for this tab only, so that no draft stays on the machine. */
const PREFIX = 'draft:';

export interface Draft {
  readonly text: string;
  readonly write: (text: string) => void;
  /** Puts a text that could not be sent in front of the current draft, even after the chat was closed. */
  readonly restore: (text: string) => void;
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

  function restore(unsent: string) {
    write([unsent, sessionStorage.getItem(key) ?? ''].filter((part) => part !== '').join('\n'));
  }

  return { text, write, restore };
}

/** Deletes all drafts at the end of a login. */
export function clearDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}
