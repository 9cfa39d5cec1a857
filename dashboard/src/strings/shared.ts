/** Text that several pages share. The text of one page is in the file of its name. */
export const sharedStrings = {
  product: 'Switchboard',
  unreachable: 'The server cannot be reached. Your changes may not have been saved.',
  unexpected: 'Something went wrong on this page. Reload it, and report the problem if it happens again.',
  loading: 'Loading',
  loadingMore: 'Loading more',
  tryAgain: 'Try again',
  failedToLoad: 'Could not load this',
  moreFailed: (why: string) => `Could not load more: ${why}`,
  request: (id: string) => `Request ${id}`,
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser does not allow copying. Select the text instead.',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  saved: 'Saved',
  dismiss: 'Dismiss',
  optional: 'optional',
  never: 'never',
  notifications: 'Notifications',
  skipToContent: 'Skip to content',
  pageNotFound: 'Page not found',
  pageNotFoundHint: 'Check the address. The page may have been deleted.',
  toOverview: 'Go to overview',
} as const;

/** Times and durations. */
export const timeStrings = {
  now: 'just now',
  inMoment: 'in a moment',
  ago: (amount: string) => `${amount} ago`,
  ahead: (amount: string) => `in ${amount}`,
  seconds: (count: number) => `${count} s`,
  minutes: (count: number) => `${count} min`,
  hours: (count: number) => `${count} h`,
  days: (count: number) => (count === 1 ? '1 day' : `${count} days`),
} as const;
