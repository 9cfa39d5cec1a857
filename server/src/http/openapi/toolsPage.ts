import type { Tool } from '@modelcontextprotocol/server';
import type { Operation } from '../../invoke/operation.ts';
import { operationsByTool, toolDefinitions } from '../mcp/tools.ts';
import { withGeneratedPart } from './generatedPart.ts';

/** Replaces the list of tools in `docs/mcp-reference.md`. */
export function withToolsTable(page: string, operations: readonly Operation[]): string {
  const permissions = new Map([...operationsByTool(operations)].map(([name, { permission }]) => [name, permission]));
  const byToolset = Map.groupBy(toolDefinitions(operations), ({ name }) => name.slice(0, name.indexOf('_')));
  const sections = [...byToolset].map(([toolset, tools]) => {
    const rows = tools.map((tool) => {
      const permission = permissions.get(tool.name) ?? null;
      const cells = [
        `\`${tool.name}\``,
        inCell(tool.description ?? ''),
        argumentsOf(tool),
        permission === null ? '' : `\`${permission}\``,
        hintOf(tool),
      ];
      return `| ${cells.join(' | ')} |`;
    });
    const head = '| tool | description | arguments | permission | effect |\n|---|---|---|---|---|';
    return `### ${toolset}\n\n${[head, ...rows].join('\n')}\n`;
  });
  return withGeneratedPart(page, 'tools', `\n${sections.join('\n')}\n`);
}

/** The required arguments, then the optional ones in brackets. */
function argumentsOf({ inputSchema: { properties = {}, required = [] } }: Tool): string {
  const isRequired = (name: string) => required.includes(name);
  const names = Object.keys(properties);
  return [
    ...names.filter(isRequired).map((name) => `\`${name}\``),
    ...names.filter((name) => !isRequired(name)).map((name) => `[\`${name}\`]`),
  ].join(', ');
}

function hintOf({ annotations: { readOnlyHint, destructiveHint } = {} }: Tool): string {
  if (readOnlyHint === true) return 'read';
  return destructiveHint === true ? 'destructive' : 'write';
}

const inCell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
