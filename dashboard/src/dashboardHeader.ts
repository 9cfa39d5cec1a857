/**
 * Identifies a request of the dashboard. The login cookie counts only with this header, which other sites cannot send
 * (see `loginCookie.ts` of the server).
 */
export const DASHBOARD_HEADER = { 'x-switchboard-dashboard': '1' };
