import { resolve } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Settings } from '../../config.ts';
import { LEAST_PASSPHRASE } from '../../conversion/account/accountFile.ts';
import { exportAccount } from '../../conversion/account/exportAccount.ts';
import { importAccount } from '../../conversion/account/importAccount.ts';
import { openStore } from '../../media/openStore.ts';
import { explainStart } from '../../startErrors.ts';
import type { Context } from '../context.ts';
import { readDataSettings } from '../dataOwner.ts';
import { CliError } from '../failure.ts';
import { ask, isInteractive, readSecretLine } from '../prompt.ts';

interface PassphraseFlags {
  /** Whether the passphrase is on standard input. */
  readonly passphraseStdin?: boolean;
}

export interface ExportFlags extends PassphraseFlags {
  readonly withoutFiles?: boolean;
  readonly keepRunning?: boolean;
}

export interface ImportFlags extends PassphraseFlags {
  readonly withoutEvents?: boolean;
}

/** Writes an account of the server on this machine, which must not be running, to a file. */
export async function exportToFile(context: Context, account: string, file: string, flags: ExportFlags): Promise<void> {
  const { io, out } = context;
  const settings = readDataSettings(io);
  const passphrase = await readPassphrase(context, flags);
  const { withoutFiles = false, keepRunning = false } = flags;
  const target = resolve(file);
  const options = { account, file: target, passphrase, withoutFiles, keepRunning };
  const exported = await explained(settings, async () =>
    exportAccount(settings, await openStore(settings, systemClock), options, { line: (text) => out.note(text) }),
  );
  out.result({ file: target, ...exported, stopped: !keepRunning }, () => {
    out.line(`Exported ${exported.accountId} to ${target} (${exported.rows} rows, ${exported.files} files).`);
    if (!keepRunning) out.note('Its sessions are stopped, and its webhooks are paused.');
  });
}

/** Adds an exported account to the server on this machine, which must not be running. */
export async function importFromFile(context: Context, file: string, flags: ImportFlags): Promise<void> {
  const { io, out } = context;
  const settings = readDataSettings(io);
  const passphrase = await readPassphrase(context, flags);
  const options = { file: resolve(file), passphrase, withoutEvents: flags.withoutEvents ?? false };
  const imported = await explained(settings, async () =>
    importAccount(settings, await openStore(settings, systemClock), options, { line: (text) => out.note(text) }),
  );
  const { accountId, email, rows, files, lacksFiles } = imported;
  out.result(imported, () => {
    out.line(`Imported ${accountId} (${email}): ${rows} rows, ${files} files.`);
    if (lacksFiles) out.note('The file has no contents of files. The server must use the same file store as before.');
    out.note(
      'Start the server. Its sessions connect as they did on the other server, which must not use them any longer.',
    );
  });
}

/** @throws {CliError} `usage` if it is too short */
async function readPassphrase({ io }: Context, { passphraseStdin = false }: PassphraseFlags): Promise<string> {
  if (!passphraseStdin && !isInteractive(io))
    throw new CliError('usage', 'Pass the passphrase on standard input, with --passphrase-stdin.');
  const passphrase = passphraseStdin
    ? await readSecretLine(io, 'passphrase')
    : await ask(io, { text: 'Passphrase', isSecret: true });
  if (passphrase.length < LEAST_PASSPHRASE)
    throw new CliError('usage', `The passphrase must have at least ${LEAST_PASSPHRASE} characters.`);
  return passphrase;
}

const explained = <T>(settings: Settings, work: () => Promise<T>): Promise<T> =>
  work().catch((cause) => {
    throw new CliError('failed', explainStart(cause, settings), { cause });
  });
