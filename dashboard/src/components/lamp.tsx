import { classes } from './classes.ts';

export type LampTone = 'good' | 'warn' | 'bad' | 'off' | 'busy';

const DOTS: Readonly<Record<LampTone, string>> = {
  good: 'bg-good-lamp',
  warn: 'bg-warn-lamp',
  bad: 'bg-bad-lamp',
  off: 'border-[1.5px] border-line-strong',
  busy: 'bg-warn-lamp pulse-slow',
};

/** A status as a colored dot with its name. */
export function Lamp({ tone, children }: { readonly tone: LampTone; readonly children: string }) {
  return (
    <span className="inline-flex items-center gap-2 text-sm whitespace-nowrap">
      <Dot tone={tone} />
      {children}
    </span>
  );
}

/** The dot of a status, for text that may take several lines. */
export function Dot({ tone }: { readonly tone: LampTone }) {
  return <span aria-hidden className={classes('size-2.5 shrink-0 rounded-full', DOTS[tone])} />;
}

/** A short label, such as a type. */
export function Tag({ children }: { readonly children: string }) {
  return (
    <span className="inline-block rounded-md bg-sunken px-1.5 py-0.5 font-mono text-xs whitespace-nowrap text-ink-soft">
      {children}
    </span>
  );
}
