import { type ChangeEvent, type KeyboardEvent, useState } from 'react';

/**
 * An input whose text counts once it is entered, by Enter or by leaving it: half a number finds nothing, and typed by
 * hand, a year is 2 before it is 2026.
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
