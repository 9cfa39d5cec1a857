/*
 * The login of the dashboard. Its token is in a cookie that no script can read (HttpOnly), neither ours nor one that
 * somebody smuggles into the page.
 *
 * A browser sends cookies by itself, also when another page makes it ask; so a cookie alone proves nothing. It counts
 * only together with a header that other origins cannot send without asking first (a CORS preflight, which this server
 * never grants), and where the browser says where a request comes from, it must come from us. `SameSite=Strict` keeps
 * other sites out once more.
 */

/** Every request of the dashboard carries it. */
export const DASHBOARD_HEADER = 'x-switchboard-dashboard';

/** `__Host-` makes browsers refuse one that a sister domain, or plain http, wants to plant (RFC 6265bis, 4.1.3.2). */
const SECURE_NAME = '__Host-switchboard';
const PLAIN_NAME = 'switchboard';
const DEVICE = '-device';
const DEVICE_SECONDS = 365 * 24 * 60 * 60;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Whether the dashboard asks, from a page of this very server. */
export function isFromDashboard(headers: Headers): boolean {
  if (headers[DASHBOARD_HEADER] === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  // Browsers leave it out over plain http, except on this machine.
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return typeof origin === 'string' && URL.canParse(origin) && new URL(origin).host === host;
}

/**
 * Whether the browser has come by https, as far as it says so itself: behind a proxy that ends TLS the request looks
 * plain. Over http it says where a request comes from to this machine alone.
 */
export function cameByHttps({ origin, host, 'sec-fetch-site': site }: Headers): boolean {
  if (typeof origin === 'string') return origin.startsWith('https://');
  return site !== undefined && !/^(localhost|127\.[\d.]+|\[::1\])(:\d+)?$/.test(String(host));
}

/** The token that the dashboard's cookie holds. */
export function cookieToken(headers: Headers): string | undefined {
  return readCookie(headers, '');
}

/** The token of the device, see `LoginDevices`. */
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
  const plain = cameByHttps(headers) ? undefined : cookies.get(PLAIN_NAME + suffix);
  // Over https the other one may have been planted.
  return cookies.get(SECURE_NAME + suffix) || plain || undefined;
}

/** `Set-Cookie` that keeps a token until it ends, and no other one beside it. */
export function keepToken(token: string, expiresAt: Date, isSecure: boolean): string[] {
  return [cookie(token, `Expires=${expiresAt.toUTCString()}`, isSecure), cookie('', 'Max-Age=0', !isSecure)];
}

/** `Set-Cookie` that drops it, whichever way the browser came to it. */
export function dropToken(): string[] {
  return [cookie('', 'Max-Age=0', false), cookie('', 'Max-Age=0', true)];
}

/** `Set-Cookie` that keeps the token of a device. */
export function keepDevice(token: string, isSecure: boolean): string {
  return cookie(token, `Max-Age=${DEVICE_SECONDS}`, isSecure, DEVICE);
}

function cookie(value: string, end: string, isSecure: boolean, suffix = ''): string {
  const name = (isSecure ? SECURE_NAME : PLAIN_NAME) + suffix;
  return `${name}=${value}; Path=/; ${end}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}
