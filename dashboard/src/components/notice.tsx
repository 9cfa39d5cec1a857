import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';

export type Tone = 'info' | 'good' | 'warn' | 'bad';

const LOOKS: Readonly<Record<Tone, string>> = {
  info: 'bg-sunken text-ink-soft',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
};
const ICONS = { info: Info, good: CircleCheck, warn: TriangleAlert, bad: CircleAlert };

/** A highlighted message. Errors are announced to screen readers. */
export function Notice({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  const Icon = ICONS[tone];
  return (
    <div
      role={tone === 'bad' ? 'alert' : undefined}
      className={classes('flex items-start gap-2.5 rounded-lg px-3.5 py-2.5 text-sm', LOOKS[tone])}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 wrap-anywhere">{children}</div>
    </div>
  );
}
