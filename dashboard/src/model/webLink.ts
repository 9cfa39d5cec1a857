/** Returns a link that strangers wrote as the browser would open it; undefined if it is not a page of the web. */
export function webLink(text: string): string | undefined {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
}
