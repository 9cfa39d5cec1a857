import type { Command } from 'commander';
import { settingsHelp } from '../config.ts';
import { type Adder, examples } from './options.ts';

/* Commands that convert and move the data of the server on this machine. */

/** The settings that say where the data is. */
export const dataSettings = ['dataDir', 'databaseUrl', 'mediaDir', 'mediaS3Url'] as const;

export function addUpgrade(program: Command, add: Adder): void {
  add(
    program,
    'upgrade',
    'Convert a database from before the first release. No server may be running. Continues after an interruption, checks every row, and keeps the earlier database. Takes the same settings as the server.',
    async () => (await import('./commands/upgrade.ts')).upgradeDatabase,
  )
    .option('--check', 'Convert a copy and check it, and leave the database as it is.')
    .option('--restart', 'Discard the copy that an interrupted upgrade left.')
    .addHelpText('after', examples('switchboard upgrade', 'switchboard upgrade --check'))
    .addHelpText('after', () => `\n${settingsHelp(dataSettings)}`);
}

export function addAccountFiles(admin: Command, add: Adder): void {
  const passphrase = ['--passphrase-stdin', 'Read the passphrase from standard input.'] as const;
  add(
    admin,
    'export-account',
    'Write an account to an encrypted file: ids, sessions, messages, webhooks, keys and files. No server may be running. Its sessions stop and its webhooks pause, because two servers must not use one number. Takes the same settings as the server.',
    async () => (await import('./commands/accountFiles.ts')).exportToFile,
  )
    .argument('<account>', 'Email address or id of the account.')
    .argument('<file>', 'File that does not exist yet.')
    .option(...passphrase)
    .option('--without-files', 'Leave out the files, for a server with the same file store.')
    .option('--keep-running', 'Change nothing in the account, for a copy that no server will run.')
    .addHelpText('after', examples('switchboard admin export-account you@example.com account.switchboard'));
  add(
    admin,
    'import-account',
    'Add an exported account to the server, which may use another database and encryption key. No server may be running. Refuses an account that exists. Takes the same settings as the server.',
    async () => (await import('./commands/accountFiles.ts')).importFromFile,
  )
    .argument('<file>', 'File that switchboard admin export-account wrote.')
    .option(...passphrase)
    .option('--without-events', 'Leave out events and deliveries, for a database with events of other accounts.')
    .addHelpText('after', examples('switchboard admin import-account account.switchboard'));
}
