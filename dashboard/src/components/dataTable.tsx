import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';
import type { More } from '../paged.ts';
import { words } from '../strings/shared.ts';
import { classes } from './classes.ts';
import { useIsWide } from './isWide.ts';
import { MoreFailed, useMore } from './more.tsx';

export interface Column<T> {
  readonly id: string;
  readonly header: string;
  /** A track of a CSS grid: `9rem`, `2fr`, `minmax(8rem, 1fr)`. */
  readonly width: string;
  readonly cell: (row: T) => ReactNode;
  /** Left out where the screen is narrow. */
  readonly wideOnly?: boolean;
}

export interface DataTableProps<T> {
  /** Names the table to screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  /** Read as the reader comes near the end. */
  readonly more?: More | undefined;
  /** Shown in place of the rows when there are none. */
  readonly empty?: ReactNode;
  /** Of a row, in pixels. */
  readonly rowHeight?: number;
}

/** For the link in a row that is meant wherever the row is clicked. */
export const rowLinkClass =
  "font-medium text-ink no-underline hover:underline after:absolute after:inset-0 after:content-['']";

const OVERSCAN = 12;

/** A table of any length: only what is seen is drawn, so that 10,000 rows scroll as 20 do. */
export function DataTable<T>({ label, columns, rows, rowKey, more, empty, rowHeight = 52 }: DataTableProps<T>) {
  const isWide = useIsWide();
  const shown = columns.filter(({ wideOnly }) => isWide || !wideOnly);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    getItemKey: (index) => rowKey(rows[index] as T), // an index of the virtualiser is one of the rows
  });
  const items = virtual.getVirtualItems();
  const lastSeen = items.at(-1)?.index ?? 0;

  useMore(more, lastSeen >= rows.length - OVERSCAN);

  if (rows.length === 0 && empty !== undefined) return empty;
  const tracks = { gridTemplateColumns: shown.map(({ width }) => width).join(' ') };
  return (
    // biome-ignore-start lint/a11y/useSemanticElements: rows that are placed one by one are no `<tr>`
    // biome-ignore-start lint/a11y/useFocusableInteractive: the table scrolls as a whole; its links take the focus
    <>
      <div role="table" aria-label={label} aria-rowcount={more?.load === undefined ? rows.length + 1 : -1}>
        <div role="rowgroup" className="border-b border-line bg-surface">
          <div role="row" aria-rowindex={1} className="grid items-center gap-4 px-5 py-2" style={tracks}>
            {shown.map(({ id, header }) => (
              <div key={id} role="columnheader" className="text-xs font-medium text-ink-faint">
                {header}
              </div>
            ))}
          </div>
        </div>
        <div
          ref={scroller}
          role="rowgroup"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the keys
          tabIndex={0}
          className="max-h-[min(70vh,46rem)] overflow-y-auto contain-strict"
          style={{ height: virtual.getTotalSize() + 1 }}
        >
          <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
            {items.map(({ index, key, start, size }) => (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 2}
                className={classes(
                  'absolute inset-x-0 grid items-center gap-4 px-5 text-sm hover:bg-sunken',
                  index > 0 && 'border-t border-line',
                )}
                style={{ ...tracks, height: size, transform: `translateY(${start}px)` }}
              >
                {shown.map(({ id, cell }) => (
                  <div key={id} role="cell" className="min-w-0 truncate">
                    {cell(rows[index] as T)}
                  </div>
                ))}
              </div>
            ))}
          </div>
        </div>
      </div>
      <MoreFailed more={more} />
      <p role="status" className="sr-only">
        {more?.isLoading ? words.loadingMore : ''}
      </p>
    </>
    // biome-ignore-end lint/a11y/useFocusableInteractive: see above
    // biome-ignore-end lint/a11y/useSemanticElements: see above
  );
}
