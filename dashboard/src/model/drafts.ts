import { useState } from 'react';
import { useAccount } from '../shell/account.ts';

/** In this tab only, so that nothing that was typed stays behind on the machine. */
const PREFIX = 'draft:';

export interface Draft {
  readonly text: string;
  readonly write: (text: string) => void;
  /** Puts back a text that could not be sent, in front of what was typed since; also after the chat was left. */
  readonly restore: (text: string) => void;
}

/** A text that is being written, kept while other chats and pages are open. @param place what it is written for */
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

/** For the end of a login. */
export function clearDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
}
