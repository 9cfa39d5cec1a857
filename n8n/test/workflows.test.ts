import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { INode, INodeParameterResourceLocator } from 'n8n-workflow';
import { switchboard } from './support/nodes.ts';

const FOLDER = new URL('../workflows/', import.meta.url);
const DOCS = readFileSync(new URL('../../docs/n8n.md', import.meta.url), 'utf8');

/** Whether the operation has a field for the session. */
function hasSession({ parameters }: INode): boolean {
  return switchboard.description.properties.some(
    ({ name, displayOptions }) =>
      name === 'sessionId' &&
      Object.entries(displayOptions?.show ?? {}).every(([field, values]) =>
        (values as unknown[]).includes(parameters[field]),
      ),
  );
}

describe('the workflows for n8n to import', () => {
  for (const file of readdirSync(FOLDER)) {
    it(`${file} has a session for an account with several`, () => {
      const { nodes }: { nodes: INode[] } = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
      const acting = nodes.filter(({ type }) => /^n8n-nodes-switchboard\.switchboard(?:Tool)?$/.test(type));
      const using = acting.filter(hasSession);
      assert.ok(using.length > 0);
      for (const { name, parameters } of using) {
        const { value = '' } = (parameters['sessionId'] ?? {}) as Partial<INodeParameterResourceLocator>;
        const isOfEvent = /^=\{\{ .*\.data\.sessionId \}\}$/.test(String(value));
        // The page tells the user to replace a fixed one.
        assert.ok(isOfEvent || (value !== '' && DOCS.includes(`Replace \`${value}\``)), `${name}: ${value}`);
      }
    });
  }
});
