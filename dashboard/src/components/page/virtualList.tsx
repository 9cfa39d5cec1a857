import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import type { More } from '../../paged.ts';
import { MoreFailed, useMore } from './more.tsx';

const ROW_HEIGHT = 64;
const OVERSCAN = 10;

/** A list of any length that renders only the rows in view. */
export function VirtualList<T>({
  label,
  rows,
  rowKey,
  more,
  visibleKey,
  children,
}: {
  readonly label: string;
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly more: More;
  /** Key of a row to scroll into view. */
  readonly visibleKey?: string | undefined;
  readonly children: (row: T) => ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    getItemKey: (index) => rowKey(rows[index] as T), // the virtualizer's indexes are those of the rows
  });
  const items = virtual.getVirtualItems();
  useMore(more, (items.at(-1)?.index ?? 0) >= rows.length - OVERSCAN);

  const visibleIndex = rows.findIndex((row) => rowKey(row) === visibleKey);
  const isListed = visibleIndex !== -1;
  const scrollToVisible = useEffectEvent(() => virtual.scrollToIndex(visibleIndex, { align: 'auto' }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls again for another key
  useEffect(() => {
    if (isListed) scrollToVisible();
  }, [visibleKey, isListed]);

  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto contain-strict">
      <ul aria-label={label} className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start }) => (
          <li
            key={key}
            className="absolute inset-x-0 border-b border-line"
            style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
          >
            {children(rows[index] as T)}
          </li>
        ))}
      </ul>
      <MoreFailed more={more} />
    </div>
  );
}
