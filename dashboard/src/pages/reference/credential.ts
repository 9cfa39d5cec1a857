import { createContext, useContext, useState } from 'react';

const STORAGE_KEY = 'referenceCredential';

/** The key or token that requests are sent with. */
export interface Credential {
  readonly value: string;
  readonly change: (value: string) => void;
  /** Whether the browser keeps it until the tab is closed. Otherwise it is only in the memory of this page. */
  readonly isKept: boolean;
  readonly keep: (isKept: boolean) => void;
}

export const CredentialContext = createContext<Credential | undefined>(undefined);

export function useCredential(): Credential {
  const credential = useContext(CredentialContext);
  if (credential === undefined) throw new Error('the reference provides the credential');
  return credential;
}

/** The state of the credential. It is stored only with the consent of the reader, and never in an address. */
export function useCredentialState(): Credential {
  const [stored] = useState(readStored);
  const [value, setValue] = useState(stored);
  const [isKept, setKept] = useState(stored !== '');
  return {
    value,
    isKept,
    change: (next) => {
      setValue(next);
      if (isKept) store(next);
    },
    keep: (next) => {
      setKept(next);
      store(next ? value : '');
    },
  };
}

function readStored(): string {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? '';
  } catch {
    return '';
  }
}

function store(value: string): void {
  try {
    if (value === '') sessionStorage.removeItem(STORAGE_KEY);
    else sessionStorage.setItem(STORAGE_KEY, value);
  } catch {
    // Storage is disabled: the key stays in memory.
  }
}
