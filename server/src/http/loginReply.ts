import type { FastifyReply, FastifyRequest } from 'fastify';
import { deviceCookie, expiredLoginCookies, isFromDashboard, loginCookies, usedHttps } from '../auth/loginCookie.ts';
import type { LoginDevices } from '../auth/loginDevices.ts';
import type { Operation } from '../invoke/operation.ts';

/**
 * Moves the login token of an output into a cookie if the dashboard sent the request: the body, which scripts can read,
 * has an empty one. Other callers get the output unchanged.
 */
export function replyWithLogin(
  operation: Operation,
  output: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  devices: LoginDevices,
): unknown {
  if (operation.login === undefined || !isFromDashboard(request.headers)) return output;
  if (operation.login === 'ends') {
    reply.header('set-cookie', expiredLoginCookies());
    return output;
  }
  // The operations that return a token are those that log in.
  const isSecure = request.protocol === 'https' || usedHttps(request.headers);
  const begun = output as { token: string; expiresAt: string; account: { email: string } };
  reply.header('set-cookie', [
    ...loginCookies(begun.token, new Date(begun.expiresAt), isSecure),
    deviceCookie(devices.issue(begun.account.email), isSecure),
  ]);
  return { ...begun, token: '' };
}
