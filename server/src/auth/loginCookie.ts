/*
 * The login of the dashboard. Its token is in a cookie that no script can read (HttpOnly), including injected ones.
 *
 * Browsers send cookies even when another site causes the request, so a cookie alone proves nothing. It counts only
 * together with a header that other origins cannot send without a CORS preflight, which this server never grants for it
 * (`http/cors.ts`). If the browser states the origin of a request, it must be ours. `SameSite=Strict` is one more
 * defense.
 */

/** Sent with every request of the dashboard. */
export const DASHBOARD_HEADER = 'x-switchboard-dashboard';

/** `__Host-` makes browsers refuse a cookie that a sibling domain or plain HTTP tries to set (RFC 6265bis, 4.1.3.2). */
const SECURE_NAME = '__Host-switchboard';
const PLAIN_NAME = 'switchboard';
const DEVICE = '-device';
const DEVICE_SECONDS = 365 * 24 * 60 * 60;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Whether the request comes from the dashboard, on a page of this server. */
export function isFromDashboard(headers: Headers): boolean {
  if (headers[DASHBOARD_HEADER] === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  // Browsers omit it over plain HTTP, except on localhost.
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return typeof origin === 'string' && URL.canParse(origin) && new URL(origin).host === host;
}

/**
 * Whether the browser used HTTPS, as far as its headers show: behind a proxy that terminates TLS the request itself is
 * plain. Over HTTP, browsers send `Sec-Fetch-Site` only to localhost.
 */
export function usedHttps({ origin, host, 'sec-fetch-site': site }: Headers): boolean {
  if (typeof origin === 'string') return origin.startsWith('https://');
  return site !== undefined && !/^(localhost|127\.[\d.]+|\[::1\])(:\d+)?$/.test(String(host));
}

export function cookieToken(headers: Headers): string | undefined {
  return readCookie(headers, '');
}

/** The token of the device; see `LoginDevices`. */
export function deviceToken(headers: Headers): string | undefined {
  return readCookie(headers, DEVICE);
}

function readCookie(headers: Headers, suffix: string): string | undefined {
  if (!isFromDashboard(headers)) return undefined;
  const cookies = new Map(
    String(headers['cookie'] ?? '')
      .split(';')
      .map((pair): [string, string] => {
        const [name = '', ...value] = pair.trim().split('=');
        return [name, value.join('=')];
      }),
  );
  const plain = usedHttps(headers) ? undefined : cookies.get(PLAIN_NAME + suffix);
  // Over HTTPS, a cookie without the prefix may have been set by somebody else.
  return cookies.get(SECURE_NAME + suffix) || plain || undefined;
}

/** `Set-Cookie` headers that keep a login token until it expires, and remove the other cookie. */
export function loginCookies(token: string, expiresAt: Date, isSecure: boolean): string[] {
  return [cookie(token, `Expires=${expiresAt.toUTCString()}`, isSecure), cookie('', 'Max-Age=0', !isSecure)];
}

/** `Set-Cookie` headers that remove the login token, over HTTP and HTTPS. */
export function expiredLoginCookies(): string[] {
  return [cookie('', 'Max-Age=0', false), cookie('', 'Max-Age=0', true)];
}

export function deviceCookie(token: string, isSecure: boolean): string {
  return cookie(token, `Max-Age=${DEVICE_SECONDS}`, isSecure, DEVICE);
}

function cookie(value: string, end: string, isSecure: boolean, suffix = ''): string {
  const name = (isSecure ? SECURE_NAME : PLAIN_NAME) + suffix;
  return `${name}=${value}; Path=/; ${end}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}
