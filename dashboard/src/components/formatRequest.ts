/** Formats a request as it is sent over the wire. */
export function formatRequest({
  url,
  headers,
  body,
}: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}): string {
  const { host, pathname, search } = new URL(url);
  const lines = [
    `POST ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join('\n')}\n\n${body}`;
}
