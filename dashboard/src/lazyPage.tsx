import type { ComponentType } from 'react';

/** The code of a page did not load: the server is down, or serves a newer build under other names. */
export class PageCodeError extends Error {
  constructor(cause: unknown) {
    super('The code of the page did not load', { cause });
    this.name = 'PageCodeError';
  }
}

/**
 * Loads the code of a page when the page is first opened. The router calls `preload` and shows its error.
 *
 * The router's own `lazyRouteComponent` reloads the document if the code does not load. While the server is down, that
 * replaces the dashboard with the error page of the browser, which never recovers.
 */
export function lazyPage<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  let Loaded: ComponentType | undefined;
  let loading: Promise<void> | undefined;

  function preload(): Promise<void> | undefined {
    if (Loaded !== undefined) return undefined;
    loading ??= load()
      .then((page) => {
        Loaded = page[name];
      })
      .catch((cause: unknown) => {
        throw new PageCodeError(cause);
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  }

  function LazyPage() {
    if (Loaded === undefined) throw new Error('the router preloads a page before it renders it');
    return <Loaded />;
  }

  return Object.assign(LazyPage, { preload });
}
