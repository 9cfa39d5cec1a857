/** Fields of `data` that describe a file. */
export const fileFields = ['media', 'livePhoto'] as const;

/** Lifetime of a link in a delivery: long enough for the work queue of an endpoint that is down overnight. */
export const DELIVERED_LINK_MS = 24 * 60 * 60 * 1000;

/** Upper bound for `inlineMediaBytes`. */
export const MAX_INLINE_MEDIA_BYTES = 5 * 1024 * 1024;
