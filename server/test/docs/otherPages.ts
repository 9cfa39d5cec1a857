import type { Block, Decision } from './markdown.ts';

/* Decisions about blocks of pages that are generated or have no comments, by the beginning of the block. */

const decisions: Readonly<Record<string, Readonly<Record<string, Decision>>>> = {
  'README.md': {
    'npm ci && npm start': {
      type: 'not run',
      reason: 'the tests run in an installed checkout, and start their own server',
    },
    'docker build': { type: 'not run', reason: 'it needs Docker' },
    'npm ci && npm test': { type: 'not run', reason: 'this is one of these tests' },
    "import { verifyAndParse } from '@switchboard": {
      type: 'given',
      parameters: 'rawBody: Uint8Array, request: Request, process: { env: { WEBHOOK_SECRET: string } }',
    },
  },
};

/** Pages whose commands and files another test runs. */
const elsewhere: Readonly<Record<string, string>> = {
  'docs/cli.md': 'server/test/cli/docs.test.ts',
  'docs/connectors.md': 'server/test/connectorPackage.test.ts',
  'docs/python.md': 'server/test/pythonClient.test.ts',
};

export const isRunElsewhere = (file: string): boolean => Object.hasOwn(elsewhere, file);

/** The decisions that fit no block, because their page was changed. */
export function staleDecisions(blocks: readonly Block[]): string[] {
  return Object.entries(decisions).flatMap(([file, ofPage]) =>
    Object.keys(ofPage)
      .filter((beginning) => !blocks.some((block) => block.file === file && block.text.startsWith(beginning)))
      .map((beginning) => `${file}: ${beginning}`),
  );
}

export function decisionOf(block: Block): Decision {
  const found = Object.entries(decisions[block.file] ?? {}).find(([beginning]) => block.text.startsWith(beginning));
  return found?.[1] ?? block.decision;
}
