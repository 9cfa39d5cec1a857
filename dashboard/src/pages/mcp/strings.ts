import { counted, milliseconds } from '../../strings/format.ts';

export const mcpStrings = {
  title: 'MCP',
  lead: 'The operations of the API as tools for agents, over the Model Context Protocol.',
  connect: 'Agent connection',
  connectHint: 'Clients read the key from the environment variable SWITCHBOARD_KEY, so that no file contains it.',
  address: 'Server URL',
  makeKey: 'Create key',
  keyHint: 'An agent sees only the tools that its key permits. Grant no more than it needs.',
  clients: 'Client configuration',
  configuration: (client: string) => `Configuration of ${client}`,
  file: (file: string) => `Add this to ${file}.`,
  bridge: 'For clients that only start local processes: the client runs this bridge from npm.',

  tools: 'Tools',
  toolsHint: 'Each tool is one operation of the API.',
  toolCount: (count: number, all: number) =>
    count === all ? counted(all, 'tool') : `${count} of ${counted(all, 'tool')}`,
  shownFor: 'Show tools for',
  login: 'Your login: all tools',
  search: 'Search tools',
  noTools: 'No tools match',
  noToolsHint: 'Search for another name, or select a key with more permissions.',
  effects: { read: 'read-only', write: 'write', destructive: 'destructive' },

  call: 'Call tool',
  callHint: 'Calls the tool with the permissions of your login.',
  callTitle: (tool: string) => `Call ${tool}?`,
  confirmHint: 'The call changes real data, and may not be reversible.',
  input: 'Input',
  noInput: 'This tool takes no input.',
  worked: (ms: number) => `The call succeeded in ${milliseconds(ms)}.`,
  request: 'Request',
  result: 'Result',
  picture: 'Image in the result',
} as const;
