/** Pages whose commands and files another test runs, or parses: those of docs/cli.md are for several servers. */
const elsewhere: Readonly<Record<string, string>> = {
  'docs/chatwoot.md': 'chatwoot/test/command.test.ts',
  'docs/cli.md': 'server/test/cli/docs.test.ts',
  'docs/connectors.md': 'connector-kit/test/package.test.ts',
  'docs/python.md': 'server/test/repository/pythonClient.test.ts',
};

export const isRunElsewhere = (file: string): boolean => Object.hasOwn(elsewhere, file);
