import { classes } from '../../components/classes.ts';
import type { Entry } from './entries.ts';
import { referenceStrings } from './strings.ts';

const LOOKS: Readonly<Record<string, string>> = {
  GET: 'bg-good-soft text-good',
  POST: 'bg-info-soft text-info',
  PUT: 'bg-warn-soft text-warn',
  PATCH: 'bg-warn-soft text-warn',
  DELETE: 'bg-bad-soft text-bad',
};

/** The method of an operation in its color, or what else an entry is. */
export function MethodTag({ entry, size = 'normal' }: { readonly entry: Entry; readonly size?: 'normal' | 'small' }) {
  const text = entry.kind === 'operation' ? entry.operation.method : referenceStrings.kinds[entry.kind];
  return (
    <span
      className={classes(
        'inline-block shrink-0 rounded-md text-center font-mono font-medium whitespace-nowrap',
        size === 'small' ? 'w-13 px-1 text-[0.65rem] leading-4.5' : 'px-2 py-0.5 text-xs',
        LOOKS[text] ?? 'bg-sunken text-ink-soft',
      )}
    >
      {text}
    </span>
  );
}
