/** Formats a request as it is sent over the wire, or the message for a broker with the address of the broker. */
export function formatRequest({
  url,
  headers,
  body,
}: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}): string {
  const { host, pathname, search, protocol } = new URL(url);
  const lines = [
    ...(/^https?:$/.test(protocol) ? [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`] : [url]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join('\n')}\n\n${body}`;
}
