import type { FastifyReply, FastifyRequest } from 'fastify';
import { cameByHttps, dropToken, isFromDashboard, keepDevice, keepToken } from '../auth/loginCookie.ts';
import type { LoginDevices } from '../auth/loginDevices.ts';
import type { Operation } from '../invoke/operation.ts';

/**
 * Where the dashboard has asked, a token that an operation answers with goes into the cookie and nowhere else: the
 * answer that scripts can read has an empty one. Everybody else gets the answer as it is.
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
    reply.header('set-cookie', dropToken());
    return output;
  }
  // What begins a login answers with one.
  const isSecure = request.protocol === 'https' || cameByHttps(request.headers);
  const begun = output as { token: string; expiresAt: string; account: { email: string } };
  reply.header('set-cookie', [
    ...keepToken(begun.token, new Date(begun.expiresAt), isSecure),
    keepDevice(devices.issue(begun.account.email), isSecure),
  ]);
  return { ...begun, token: '' };
}
