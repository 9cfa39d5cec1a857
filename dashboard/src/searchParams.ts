/*
 * Search parameters of the dashboard's addresses. All values are text: the router's own functions read digits as a
 * number, which loses digits of long ids.
 */

/** A value in the form that the router's own functions give to text that looks like JSON. Older links have it. */
const QUOTED = /^".*"$/s;

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(text)].map(([name, value]) => [name, unquoted(value)]));
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null) continue;
    const text = String(value);
    // Otherwise `parseSearch` would remove its quotes.
    params.set(name, QUOTED.test(text) ? JSON.stringify(text) : text);
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

function unquoted(value: string): string {
  if (!QUOTED.test(value)) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'string' ? parsed : value;
  } catch {
    return value;
  }
}
