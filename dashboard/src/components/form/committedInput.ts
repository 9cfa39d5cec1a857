import { type ChangeEvent, type KeyboardEvent, useState } from 'react';

/**
 * Commits the text of an input on Enter or blur. While it is typed, a number is incomplete and a year is 2 before it is
 * 2026.
 */
export function useCommittedInput(value: string, onEnter: (text: string) => void) {
  const [typed, setTyped] = useState<string>();

  function enter() {
    setTyped(undefined);
    if (typed !== undefined && typed !== value) onEnter(typed);
  }

  return {
    value: typed ?? value,
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>) => setTyped(currentTarget.value),
    onBlur: enter,
    onKeyDown: ({ key }: KeyboardEvent) => {
      if (key === 'Enter') enter();
    },
  };
}
