import type { ReactNode } from 'react';
import { useEffect, useId } from 'react';
import { sharedStrings } from '../../strings/shared.ts';
import { classes } from '../classes.ts';

/** A page with its title, which is also that of the document, its lead and its actions. */
export function Page({
  title,
  lead,
  actions,
  fit = 'content',
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /**
   * The height of the page: that of its content; that of the screen, so that the content scrolls inside; or that of the
   * screen without the header on narrow screens.
   */
  readonly fit?: 'content' | 'screen' | 'screenAlone' | undefined;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · ${sharedStrings.product}`;
  }, [title]);
  const isAlone = fit === 'screenAlone';
  return (
    <div
      className={classes(
        'mx-auto w-full max-w-6xl gap-6 px-4 py-6 wide:px-10 wide:py-9',
        fit === 'content' ? 'grid' : 'flex h-[calc(100dvh-3.5rem)] flex-col wide:h-dvh',
        isAlone && 'max-wide:gap-0 max-wide:p-0',
      )}
    >
      <header
        className={classes('flex flex-wrap items-end justify-between gap-x-6 gap-y-3', isAlone && 'max-wide:sr-only')}
      >
        <div className="min-w-0">
          <h1 className="text-2xl font-semibold wrap-anywhere">{title}</h1>
          {lead && <div className="mt-1 max-w-prose text-sm text-ink-soft">{lead}</div>}
        </div>
        {actions && <div className={classes('flex flex-wrap gap-2.5', isAlone && 'max-wide:hidden')}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A section of the page, with an optional heading. */
export function Card({
  title,
  hint,
  actions,
  flush = false,
  children,
}: {
  readonly title?: ReactNode;
  readonly hint?: ReactNode;
  readonly actions?: ReactNode;
  /** Whether the content reaches the edges, like a table. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section
      aria-labelledby={title === undefined ? undefined : id}
      className="min-w-0 overflow-clip rounded-card border border-line bg-surface"
    >
      {title !== undefined && (
        <div className={classes('flex flex-wrap items-center justify-between gap-3 px-5 pt-4', flush && 'pb-3')}>
          <div>
            <h2 id={id} className="font-semibold">
              {title}
            </h2>
            {hint && <div className="text-sm text-ink-faint">{hint}</div>}
          </div>
          {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
        </div>
      )}
      <div className={flush ? '' : 'px-5 pt-4 pb-5'}>{children}</div>
    </section>
  );
}

/** A two-column list of names and values. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[minmax(7rem,auto)_1fr] gap-x-6 gap-y-2.5 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="min-w-0 wrap-anywhere text-ink [&_time]:whitespace-normal">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
