import { randomBytes } from 'node:crypto';
import { resetPassword, WeakPasswordError } from '../../auth/resetPassword.ts';
import { readSettings } from '../../config.ts';
import { createLog } from '../../log.ts';
import { explainStart } from '../../startErrors.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failure.ts';
import { readSecretLine } from '../prompt.ts';

export interface ResetOptions {
  /** Whether the new password is on standard input. */
  readonly passwordStdin?: boolean;
}

/** Sets the password of an account of the server on this machine, and prints it if it is a new random one. */
export async function resetPasswordOf(context: Context, email: string, { passwordStdin }: ResetOptions): Promise<void> {
  const { io, out } = context;
  const settings = readSettings(io.env);
  const given = passwordStdin ? await readSecretLine(io, 'password') : undefined;
  const password = given ?? randomBytes(18).toString('base64url');
  const accountId = await resetPassword(settings, email, password).catch((error) => {
    if (error instanceof WeakPasswordError) throw new CliError('usage', error.message);
    throw new CliError('failed', explainStart(error, settings), { cause: error });
  });
  if (accountId === undefined) throw new CliError('not_found', `No account has the email address ${email}.`);
  createLog('info', { write: (line) => void io.stderr.write(line) }).warn(
    { accountId },
    'password reset by the operator',
  );
  out.result({ accountId, email, ...(given === undefined && { password }) }, () => {
    if (given === undefined) out.line(password);
    out.note(`The password of ${email} was changed. Its logins end within 15 s; its API keys keep working.`);
  });
}
