import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';
import type { More } from '../../paged.ts';
import { sharedStrings } from '../../strings/shared.ts';
import { classes } from '../classes.ts';
import { useIsWide } from './isWide.ts';
import { MoreFailed, useMore } from './more.tsx';

export interface Column<T> {
  readonly id: string;
  readonly header: string;
  /** A track of a CSS grid: `9rem`, `2fr`, `minmax(8rem, 1fr)`. */
  readonly width: string;
  readonly cell: (row: T) => ReactNode;
  /** Hidden on narrow screens. */
  readonly wideOnly?: boolean;
}

export interface DataTableProps<T> {
  /** Read by screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  /** Loaded as the reader scrolls near the end. */
  readonly more?: More | undefined;
  /** Shown instead of the table if there are no rows. */
  readonly empty?: ReactNode;
  /** In pixels. */
  readonly rowHeight?: number;
}

/** Extends the link of a row to the whole row. */
export const rowLinkClass =
  "font-medium text-ink no-underline hover:underline after:absolute after:inset-0 after:content-['']";

const OVERSCAN = 12;

/** A table of any length that renders only the rows in view, so that 10,000 rows scroll like 20. */
export function DataTable<T>({ label, columns, rows, rowKey, more, empty, rowHeight = 52 }: DataTableProps<T>) {
  const isWide = useIsWide();
  const shown = columns.filter(({ wideOnly }) => isWide || !wideOnly);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    getItemKey: (index) => rowKey(rows[index] as T), // the virtualizer's indexes are those of the rows
  });
  const items = virtual.getVirtualItems();
  const lastSeen = items.at(-1)?.index ?? 0;

  useMore(more, lastSeen >= rows.length - OVERSCAN);

  if (rows.length === 0 && empty !== undefined) return empty;
  const tracks = { gridTemplateColumns: shown.map(({ width }) => width).join(' ') };
  return (
    // biome-ignore-start lint/a11y/useSemanticElements: absolutely positioned rows cannot be `<tr>`
    // biome-ignore-start lint/a11y/useFocusableInteractive: the links inside take the focus
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
          // biome-ignore lint/a11y/noNoninteractiveTabindex: lets the keyboard scroll it
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
        {more?.isLoading ? sharedStrings.loadingMore : ''}
      </p>
    </>
    // biome-ignore-end lint/a11y/useFocusableInteractive: see above
    // biome-ignore-end lint/a11y/useSemanticElements: see above
  );
}
