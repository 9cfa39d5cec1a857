import type { Context } from '../context.ts';
import type { Part } from '../io.ts';

export interface ListOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

interface Shown<T> {
  /** Printed if there is nothing. */
  readonly none: string;
  readonly heads: readonly string[];
  readonly row: (entry: T) => readonly Part[];
}

/** Prints one page of a list, and how to get the next one. */
export function showPage<T>({ out }: Context, page: Page<T>, { none, heads, row }: Shown<T>): void {
  out.result(page, () => {
    if (page.data.length > 0) out.table(heads, page.data.map(row));
    else if (page.nextCursor === null) out.note(none);
    if (page.nextCursor !== null)
      out.note(
        `${page.data.length > 0 ? 'There are more' : 'None so far; there can be more'}: --cursor ${page.nextCursor}`,
      );
  });
}
